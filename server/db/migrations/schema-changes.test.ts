import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { sql, type Kysely } from 'kysely';

import { MIGRATIONS, NO_WAY_BACK } from '#server/db/migrations/migrate.ts';
import { createPostgresDatabase, ENGINES, openTestDatabase, type Engine } from '#testing/databases.ts';
import { narrowings, readShape } from '#testing/schema-changes.ts';

/** 'MIGRATION: LINE': 'reason'. Breaking changes belong in a NO_WAY_BACK migration. */
const ALLOWED: Readonly<Record<string, string>> = {};

async function withEmptyDatabase(engine: Engine, work: (db: Kysely<never>) => Promise<void>): Promise<void> {
  await using database = openTestDatabase(
    engine === 'sqlite' ? { engine, file: ':memory:' } : { engine, url: await createPostgresDatabase() },
  );
  await work(database.db as unknown as Kysely<never>);
}

for (const engine of ENGINES) {
  describe(`migrations on ${engine}`, () => {
    it('migrations keep everything that the previous release reads and writes', () =>
      withEmptyDatabase(engine, async (db) => {
        const [first = '', ...others] = Object.keys(MIGRATIONS);
        await MIGRATIONS[first]?.up(db);
        let before = await readShape(db, engine);
        assert.ok(before.tables.has('leads') && before.rules.size > 0);
        const found: string[] = [];
        for (const name of others) {
          await MIGRATIONS[name]?.up(db);
          const after = await readShape(db, engine);
          const isPlanned = name.endsWith(NO_WAY_BACK);
          if (!isPlanned) found.push(...narrowings(before, after).map((line) => `${name}: ${line}`));
          before = after;
        }
        assert.deepEqual(
          found.filter((line) => ALLOWED[line] === undefined),
          [],
        );
      }));

    it('a migration that removes a column or adds a constraint is rejected', () =>
      withEmptyDatabase(engine, async (db) => {
        const run = (text: string) => sql.raw(text).execute(db);
        await run(
          `create table t (id text primary key, a text, b text not null default 'b', c text, d integer, unique (a))`,
        );
        await run('create table other (id text primary key)');
        for (const [change, line] of [
          ['create table fresh (id text primary key, a text not null unique)', null],
          ['alter table t add column e text', null],
          [`alter table t add column f text not null default 'f'`, null],
          ['create index t_by_c on t (c)', null],
          ['create unique index t_once on t (c) where d = 1', /^new rule: t unique /],
          ['alter table t add column g text references other (id)', /^new rule: t .*references/i],
          ['alter table t add column h integer check (h > 0)', /^new rule: t .*check/i],
          ['alter table t drop column b', /^t\.b went$/],
          ['alter table t rename column d to dd', /^t\.d went$/],
          ['alter table t rename to tt', /^t\.id went$/],
        ] as const) {
          const before = await readShape(db, engine);
          await run(change);
          const found = narrowings(before, await readShape(db, engine));
          if (line === null) assert.deepEqual(found, [], change);
          else
            assert.ok(
              found.some((one) => line.test(one)),
              `${change}: ${found.join('; ')}`,
            );
        }
      }));
  });
}

it('a migration is rejected if a column becomes required, loses null or changes its type', () =>
  withEmptyDatabase('postgres', async (db) => {
    const run = (text: string) => sql.raw(text).execute(db);
    await run(`create table t (id text primary key, a text, b text not null default 'b', c integer)`);
    for (const [change, line] of [
      ['alter table t add column d text not null', 't.d is new and must be given'],
      ['alter table t alter column a set not null', 't.a may no longer be null'],
      ['alter table t alter column b drop default', 't.b may no longer be left out'],
      ['alter table t alter column c type smallint', 't.c is int20 and was int40'],
      ['alter table t alter column b drop not null', 't.b may be null, and was never'],
    ] as const) {
      const before = await readShape(db, 'postgres');
      await run(change);
      assert.ok(narrowings(before, await readShape(db, 'postgres')).includes(line), change);
    }
  }));

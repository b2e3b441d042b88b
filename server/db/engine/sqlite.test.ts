import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';

import { Kysely, sql } from 'kysely';

import { createLastWrites } from '#server/db/engine/outages.ts';
import { createSqliteDialect } from '#server/db/engine/sqlite.ts';
import { inFolder } from '#testing/folder.ts';

type Tables = { readonly parents: { id: number } };

type Parts = {
  readonly db: Kysely<Tables>;
  readonly committed: () => unknown[];
  readonly file: string;
};

const openKysely = (sqlite: DatabaseSync) =>
  new Kysely<Tables>({
    dialect: createSqliteDialect({
      sqlite,
      patienceMs: 1_000,
      isFileOurs: () => true,
      writes: createLastWrites(Date.now),
    }),
  });

const withDatabase = (test: (parts: Parts) => Promise<void>): Promise<void> =>
  inFolder(async (folder) => {
    const file = path.join(folder, 'test.db');
    const sqlite = new DatabaseSync(file);
    sqlite.exec(`
      pragma journal_mode = wal;
      create table parents (id integer primary key);
    `);
    using other = new DatabaseSync(file, { readOnly: true });
    await using db = openKysely(sqlite);
    await test({
      db,
      committed: () =>
        other
          .prepare('select id from parents order by id')
          .all()
          .map(({ id }) => id),
      file,
    });
  });

const insertIn = (db: Kysely<Tables>, id: number) =>
  db.transaction().execute((tx) => tx.insertInto('parents').values({ id }).execute());

describe('concurrent SQLite transactions', () => {
  it('SQLite transactions wait in order for a lock held by another process', () =>
    withDatabase(async ({ db, committed, file }) => {
      await insertIn(db, 1);
      const other = new DatabaseSync(file);
      other.exec('begin immediate');
      const outcomes = Promise.allSettled([
        db.insertInto('parents').values({ id: 1 }).execute(),
        insertIn(db, 2),
        insertIn(db, 3),
      ]);
      await setImmediate();
      other.exec('commit');
      other.close();
      assert.deepEqual(
        (await outcomes).map(({ status }) => status),
        ['rejected', 'fulfilled', 'fulfilled'],
      );
      assert.deepEqual(committed(), [1, 2, 3]);
    }));
});

describe('SQLite statements', () => {
  it('an SQLite statement for all columns names each value correctly after a column is added', () =>
    withDatabase(async ({ db, file }) => {
      await db.insertInto('parents').values({ id: 1 }).execute();
      const read = () =>
        db
          .selectFrom('parents')
          .selectAll()
          .select(sql<string>`'last'`.as('end'))
          .execute();
      assert.deepEqual(await read(), [{ id: 1, end: 'last' }]);
      const later = new DatabaseSync(file);
      later.exec("alter table parents add column added text default 'new'");
      later.close();
      assert.deepEqual(await read(), [{ id: 1, added: 'new', end: 'last' }]);
    }));
});

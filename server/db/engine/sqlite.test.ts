import assert from 'node:assert/strict';
import path from 'node:path';
import { constants, DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { describe, it, mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';

import { Kysely, sql } from 'kysely';

import { createLastWrites } from '#server/db/engine/outages.ts';
import { createSqliteDialect } from '#server/db/engine/sqlite.ts';
import { inFolder } from '#testing/folder.ts';

type Tables = { readonly parents: { id: number }; readonly children: { id: number; parent: number } };

type Parts = {
  readonly db: Kysely<Tables>;
  readonly committed: () => unknown[];
  readonly commits: () => number;
  readonly failOnce: (text: string) => void;
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
    const sqlite = new DatabaseSync(file, { enableForeignKeyConstraints: true });
    sqlite.exec(`
      pragma journal_mode = wal;
      create table parents (id integer primary key);
      create table children (id integer primary key, parent integer references parents deferrable initially deferred);
    `);
    let commits = 0;
    let failing: string | null = null;
    const prepare = sqlite.prepare.bind(sqlite);
    mock.method(sqlite, 'prepare', (text: string) => {
      const statement = prepare(text);
      const run = statement.run.bind(statement);
      mock.method(statement, 'run', (...values: SQLInputValue[]) => {
        if (text === 'commit') commits += 1;
        if (text !== failing) return run(...values);
        failing = null;
        throw Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 10 });
      });
      return statement;
    });
    using other = new DatabaseSync(file, { readOnly: true });
    await using db = openKysely(sqlite);
    await test({
      db,
      committed: () =>
        other
          .prepare('select id from parents order by id')
          .all()
          .map(({ id }) => id),
      commits: () => commits,
      failOnce: (text) => (failing = text),
      file,
    });
  });

const insertIn = (db: Kysely<Tables>, id: number) =>
  db.transaction().execute((tx) => tx.insertInto('parents').values({ id }).execute());

describe('concurrent SQLite transactions', () => {
  it('concurrent SQLite transactions share one commit and succeed only after it', () =>
    withDatabase(async ({ db, committed, commits }) => {
      const seen: unknown[][] = [];
      await Promise.all([
        ...[1, 2, 3].map((id) => insertIn(db, id).then(() => seen.push(committed()))),
        db
          .insertInto('parents')
          .values({ id: 4 })
          .execute()
          .then(() => seen.push(committed())),
        db
          .selectFrom('parents')
          .selectAll()
          .execute()
          .then(() => seen.push(committed())),
      ]);
      assert.deepEqual(
        seen,
        Array.from({ length: 5 }, () => [1, 2, 3, 4]),
      );
      assert.equal(commits(), 1);
    }));

  it('an SQLite commit includes transactions from the next event-loop turns, but no later ones', () =>
    withDatabase(async ({ db, commits }) => {
      const first = insertIn(db, 1);
      const second = setImmediate().then(() => insertIn(db, 2));
      await Promise.all([first, second]);
      assert.equal(commits(), 1);
      await insertIn(db, 3);
      assert.equal(commits(), 2);
    }));

  it('an SQLite transaction can fail without failing others in its commit', () =>
    withDatabase(async ({ db, committed, commits }) => {
      const change = (id: number) =>
        db.transaction().execute(async (tx) => {
          await tx.insertInto('parents').values({ id }).execute();
          throw new Error('This one changed its mind.');
        });
      const outcomes = await Promise.allSettled([
        change(1),
        insertIn(db, 1),
        change(2),
        insertIn(db, 1),
        db.insertInto('parents').values({ id: 1 }).execute(),
        insertIn(db, 3),
      ]);
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['rejected', 'fulfilled', 'rejected', 'rejected', 'rejected', 'fulfilled'],
      );
      assert.deepEqual(committed(), [1, 3]);
      assert.equal(commits(), 1);
    }));

  it('a failed SQLite commit fails all its transactions, but no later ones', () =>
    withDatabase(async ({ db, committed }) => {
      const outcomes = await Promise.allSettled([
        insertIn(db, 1),
        db.selectFrom('parents').selectAll().execute(),
        db.transaction().execute((tx) => tx.insertInto('children').values({ id: 1, parent: 99 }).execute()),
      ]);
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['rejected', 'rejected', 'rejected'],
      );
      assert.deepEqual(committed(), []);
      await insertIn(db, 2);
      assert.deepEqual(committed(), [2]);
    }));

  it('a conflict that rolls back SQLite fails all transactions of the commit, but no later ones', () =>
    withDatabase(async ({ db, committed }) => {
      const outcomes = await Promise.allSettled([
        insertIn(db, 1),
        db.transaction().execute(async (tx) => {
          await tx.insertInto('parents').values({ id: 2 }).execute();
          await sql`insert or rollback into parents (id) values (2)`.execute(tx);
        }),
        insertIn(db, 3),
      ]);
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['rejected', 'rejected', 'fulfilled'],
      );
      assert.deepEqual(committed(), [3]);
    }));

  it('an SQLite transaction that cannot be ended fails the whole commit, but no later ones', async () => {
    for (const text of ['rollback to member', 'release member', 'commit'])
      await withDatabase(async ({ db, committed, failOnce }) => {
        const outcomes = Promise.allSettled([
          insertIn(db, 1),
          db.transaction().execute(async (tx) => {
            await tx.insertInto('parents').values({ id: 2 }).execute();
            failOnce(text);
            throw new Error('This one changed its mind.');
          }),
        ]);
        assert.deepEqual(
          (await outcomes).map(({ status }) => status),
          ['rejected', 'rejected'],
          text,
        );
        assert.deepEqual(committed(), []);
        await insertIn(db, 3);
        assert.deepEqual(committed(), [3]);
      });
  });

  it('SQLite transactions wait in order for a lock held by another process', () =>
    withDatabase(async ({ db, committed, file }) => {
      await insertIn(db, 1);
      const other = new DatabaseSync(file);
      other.exec('begin immediate');
      const outcomes = Promise.allSettled([
        sql`insert or rollback into parents (id) values (1)`.execute(db),
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

  it('an SQLite statement with a limit is planned only once', async () => {
    const sqlite = new DatabaseSync(':memory:');
    sqlite.exec('create table parents (id integer primary key)');
    await using db = openKysely(sqlite);
    // SQLite calls the authorizer only when it prepares a statement.
    let asked = 0;
    sqlite.setAuthorizer(() => {
      asked += 1;
      return constants.SQLITE_OK;
    });
    const first = (most: number) => db.selectFrom('parents').select('id').limit(most).execute();
    await first(1);
    assert.ok(asked > 0);
    asked = 0;
    await first(1);
    await first(2);
    assert.equal(asked, 0);
  });
});

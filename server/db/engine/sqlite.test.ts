import assert from 'node:assert/strict';
import { renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { constants, DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';

import { Kysely, sql } from 'kysely';

import type { Db, DatabaseOptions, OpenDatabase } from '#server/db/engine/connect.ts';
import { deleteExpired } from '#server/db/queries/expiry.ts';
import { migrate } from '#server/db/migrations/migrate.ts';
import {
  createWriteMonitor,
  isOutage,
  type WriteMonitor,
  sqliteError,
  SQLITE_IOERR,
} from '#server/db/engine/outages.ts';
import { createSqliteDialect } from '#server/db/engine/sqlite.ts';
import { oneAtATime } from '#server/platform/background-work.ts';
import { API } from '#shared/api.ts';
import { TEST_DIST } from '#testing/built-site.ts';
import { freshDatabase } from '#testing/databases.ts';
import { inFolder } from '#testing/folder.ts';
import type { InboxBehaviour } from '#testing/inbox.ts';
import { ask, askForCode, enter } from '#testing/lead-calls.ts';
import { createVisitor, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { becomeLead } from '#testing/become-lead.ts';

const FOREVER_MS = 600_000;

type Outside = {
  readonly file: string;
  readonly database: OpenDatabase;
  readonly lock: () => void;
  readonly unlock: () => void;
};

const withFile = (options: DatabaseOptions, test: (outside: Outside) => Promise<void>): Promise<void> =>
  inFolder(async (folder) => {
    const file = path.join(folder, 'leads.db');
    await using database = await freshDatabase('sqlite', { file, ...options });
    using other = new DatabaseSync(file);
    await test({
      file,
      database,
      lock: () => other.exec('begin immediate'),
      unlock: () => other.exec('commit'),
    });
  });

const withLockableServer = (
  options: DatabaseOptions & { readonly inbox?: InboxBehaviour },
  test: (server: ServerUnderTest, outside: Outside) => Promise<void>,
): Promise<void> =>
  withFile(options, (outside) =>
    withServer(
      {
        engine: 'sqlite',
        database: outside.database,
        siteFolder: TEST_DIST,
        ...(options.inbox && { inbox: options.inbox }),
      },
      (server) => test(server, outside),
    ),
  );

const emails = Array.from({ length: 20 }, (_, index) => `visitor-${index}@example.com`);
const sendForm = (server: ServerUnderTest, email: string) => ask(createVisitor(server), { email });

type Flushed = {
  readonly sqlite: DatabaseSync;
  readonly db: Kysely<{ rows: { id: number } }>;
  readonly writes: WriteMonitor;
  /** The flushes so far; each ends when the test resolves or rejects it. */
  readonly flushes: readonly PromiseWithResolvers<void>[];
  readonly write: (id: number) => Promise<void>;
};

async function withFlushes(test: (flushed: Flushed) => Promise<void>): Promise<void> {
  const sqlite = new DatabaseSync(':memory:');
  sqlite.exec('create table rows (id integer)');
  const flushes: PromiseWithResolvers<void>[] = [];
  const flush = oneAtATime(() => {
    const running = Promise.withResolvers<void>();
    flushes.push(running);
    return running.promise;
  });
  const writes = createWriteMonitor(Date.now);
  const isFileInPlace = () => true;
  const dialect = createSqliteDialect({
    sqlite,
    lockTimeoutMs: FOREVER_MS,
    isFileInPlace,
    flush,
    writeMonitor: writes,
  });
  const db = new Kysely<{ rows: { id: number } }>({ dialect });
  const write = (id: number) =>
    db.transaction().execute(async (tx) => void (await tx.insertInto('rows').values({ id }).execute()));
  await test({ sqlite, db, writes, flushes, write });
  if (sqlite.isOpen) sqlite.close();
}

it('an SQLite write resolves once a flush has begun after its commit, and concurrent ones share it', () =>
  withFlushes(async ({ db, writes, flushes, write }) => {
    const done: number[] = [];
    const stored = async () => (await db.selectFrom('rows').select('id').execute()).length;
    const first = write(1).then(() => done.push(1));
    await until(() => flushes.length === 1);
    const others = [write(2).then(() => done.push(2)), db.insertInto('rows').values({ id: 3 }).execute()];
    await until(async () => (await stored()) === 3);
    assert.deepEqual(done, []);
    flushes[0]!.resolve();
    await first;
    assert.deepEqual(done, [1]);
    await until(() => flushes.length === 2);
    flushes[1]!.resolve();
    await Promise.all(others);
    assert.equal(flushes.length, 2);
    assert.equal(writes.fault(), null);

    const missing = db.deleteFrom('rows').where('id', '=', 99);
    const unchanged = Promise.all([missing.execute(), missing.returning('id').execute()]);
    await setImmediate();
    assert.equal(flushes.length, 2, 'nothing was written');
    await unchanged;

    const failing = write(4);
    await until(() => flushes.length === 3);
    flushes[2]!.reject(sqliteError(SQLITE_IOERR, 'The disk failed.'));
    await assert.rejects(failing, /The disk failed/);
    assert.equal(writes.fault(), 'disk fails');

    const reading = db.transaction().execute((tx) => tx.selectFrom('rows').select('id').execute());
    await until(() => flushes.length === 4);
    flushes[3]!.resolve();
    await Promise.all([reading, missing.execute()]);
    assert.equal(writes.fault(), 'disk fails', 'nothing was written since');
    const next = write(5);
    await until(() => flushes.length === 5);
    flushes[4]!.resolve();
    await next;
    assert.equal(writes.fault(), null);
  }));

it('SQLite plans a statement with a limit only once', () =>
  withFlushes(async ({ sqlite, db }) => {
    // SQLite asks the authorizer only while it plans a statement.
    let asked = 0;
    sqlite.setAuthorizer(() => {
      asked += 1;
      return constants.SQLITE_OK;
    });
    const first = (limit: number) => db.selectFrom('rows').select('id').limit(limit).execute();
    await first(1);
    assert.ok(asked > 0);
    asked = 0;
    await first(1);
    await first(2);
    assert.equal(asked, 0);
  }));

it('SQLite is closed only after its writes are on the disk', () =>
  withFlushes(async ({ sqlite, db, flushes, write }) => {
    const written = write(1);
    await until(() => flushes.length === 1);
    const closed = db.destroy();
    await setImmediate();
    assert.equal(sqlite.isOpen, true);
    flushes[0]!.resolve();
    await written;
    await until(() => flushes.length === 2);
    flushes[1]!.resolve();
    await closed;
    assert.equal(sqlite.isOpen, false);
  }));

it('a form sent while another process locks SQLite is accepted once the lock is released', () =>
  withLockableServer({ lockTimeoutMs: FOREVER_MS }, async (server, { lock, unlock }) => {
    const { visitor: reader } = await becomeLead(server, 'ada@example.com');
    await server.advance(0);

    lock();
    let responded = 0;
    const forms = emails.map((email) => sendForm(server, email).finally(() => (responded += 1)));
    const housekeeping = deleteExpired(server.database.db, 'limit_windows', {
      before: server.now(),
      limit: 100,
    });
    for (let round = 0; round < 20; round += 1) {
      await setTimeout(1);
      assert.equal((await server.app.inject('/')).statusCode, 200);
      assert.equal((await server.app.inject(API.health)).statusCode, 200);
      assert.equal((await reader.get(API.article)).statusCode, 200);
    }
    assert.equal(responded, 0, 'nothing is promised before it is stored');
    unlock();
    for (const form of await Promise.all(forms)) assert.equal(form.statusCode, 202);
    await housekeeping;
    assert.equal(await server.countRows('submissions'), 1 + emails.length);
    for (const email of emails) await server.inbox.waitForMail(email);
    assert.equal(server.inbox.mails.length, 1 + emails.length);
  }));

it('a form or code gets 503 and stores nothing if the SQLite lock is not released', () =>
  withLockableServer({ lockTimeoutMs: 300 }, async (server, { lock, unlock }) => {
    const { visitor, code } = await askForCode(server);
    await server.advance(0);
    lock();
    const asks = [...emails.map((email) => sendForm(server, email)), enter(visitor, code)];
    for (const { statusCode, headers, body } of await Promise.all(asks)) {
      assert.equal(statusCode, 503);
      assert.equal(body, 'We cannot take this request at the moment. Please try again in a minute.');
      assert.equal(headers['x-error-code'], 'unavailable');
      assert.ok(Number(headers['retry-after']) > 0);
    }
    unlock();
    assert.equal(await server.countRows('submissions'), 1);
    assert.equal((await enter(visitor, code)).statusCode, 200);
    assert.equal((await sendForm(server, 'later@example.com')).statusCode, 202);
  }));

it('the mail worker waits for the SQLite lock and does not mail anything twice', async () => {
  let onMail = () => {};
  const inbox: InboxBehaviour = {
    onMessage: () => {
      onMail();
      return null;
    },
  };
  await withLockableServer({ lockTimeoutMs: FOREVER_MS, inbox }, async (server, { lock, unlock }) => {
    onMail = lock;
    await sendForm(server, 'ada@example.com');
    await server.inbox.waitForMail('ada@example.com');
    const isNoted = async () =>
      (await server.database.db.selectFrom('outbox').select('state').executeTakeFirst())?.state === 'sent';
    for (let round = 0; round < 20; round += 1) {
      await setTimeout(1);
      assert.equal(await isNoted(), false);
    }
    unlock();
    await until(isNoted);
    assert.equal(server.inbox.mails.length, 1);
    assert.ok(!server.logLines.some((line) => line.includes('"worker"')), 'and nothing failed');
  });
});

it("a start waits longer than a visitor for another process's migrations", () =>
  withFile({ lockTimeoutMs: 20 }, async ({ database, lock, unlock }) => {
    lock();
    let done = false;
    const migrated = migrate(database).finally(() => (done = true));
    // Five of these locks last longer than a visitor's statement timeout.
    for (let round = 0; round < 5; round += 1) {
      await assert.rejects(deleteExpired(database.db, 'limit_windows', { before: 0, limit: 100 }), isOutage);
      assert.equal(done, false);
    }
    unlock();
    await migrated;
  }));

const insert = (db: Db, key: string) =>
  db.insertInto('limit_windows').values({ key, started_at: 0, ends_at: 1, count: 1 }).execute();
const keysIn = async (db: Db) =>
  (await db.selectFrom('limit_windows').select('key').orderBy('key').execute()).map(({ key }) => key);

it('SQLite transactions take turns and exclude other statements', () =>
  withFile({}, async ({ database: { db } }) => {
    let outside = Promise.resolve<unknown>(null);
    const failed = db.transaction().execute(async (tx) => {
      await insert(tx, 'inside');
      outside = insert(db, 'outside');
      for (let round = 0; round < 10; round += 1) await setImmediate();
      throw new Error('given up');
    });
    const next = db.transaction().execute((tx) => insert(tx, 'next'));
    await assert.rejects(failed, /given up/);
    await Promise.all([outside, next]);
    assert.deepEqual(await keysIn(db), ['next', 'outside']);
  }));

it('SQLite transactions wait no longer for each other than for another process', () =>
  withFile({ lockTimeoutMs: 50 }, async ({ database: { db } }) => {
    const held = Promise.withResolvers<void>();
    const first = db.transaction().execute(() => held.promise);
    await setImmediate();
    await assert.rejects(sql`select 1`.execute(db), isOutage);
    await assert.rejects(
      db.transaction().execute(() => Promise.resolve()),
      isOutage,
    );
    held.resolve();
    await first;
    await sql`select 1`.execute(db);
  }));

it('a transaction that SQLite has rolled back by itself commits nothing and fails with its error', () =>
  withFile({}, async ({ database: { db } }) => {
    await assert.rejects(
      db.transaction().execute(async (tx) => {
        await sql`insert or rollback into limit_windows values ('x', null, 1, 1)`.execute(tx).catch(() => {});
        await sql`insert into limit_windows values ('y', 1, 1, 1)`.execute(tx);
      }),
      /NOT NULL constraint failed/,
    );
    const outage = Object.assign(new Error('disk I/O error'), { errcode: 778 });
    await assert.rejects(
      db.transaction().execute(async (tx) => {
        await sql`rollback`.execute(tx);
        throw outage;
      }),
      outage,
    );
    assert.deepEqual(await keysIn(db), []);
    await db.transaction().execute((tx) => insert(tx, 'next'));
  }));

it('SQLite transactions finish before the database is closed', () =>
  withFile({}, async ({ database: { db, close }, file }) => {
    const write = db.transaction().execute(async (tx) => {
      await setImmediate();
      await insert(tx, 'x');
    });
    await setImmediate();
    await close();
    await write;
    using later = new DatabaseSync(file);
    assert.equal(later.prepare('select key from limit_windows').all().length, 1);
  }));

it('an SQLite statement for all columns names each value correctly after a column is added', () =>
  withFile({}, async ({ database: { db }, file }) => {
    const read = () =>
      db
        .selectFrom('known_secrets')
        .selectAll()
        .select(sql<string>`'last'`.as('end'))
        .execute();
    const row = { id: 'one', first_used_at: 0 };
    await db.insertInto('known_secrets').values(row).execute();
    assert.deepEqual(await read(), [{ ...row, end: 'last' }]);
    using later = new DatabaseSync(file);
    later.exec("alter table known_secrets add column added text default 'new'");
    assert.deepEqual(await read(), [{ ...row, added: 'new', end: 'last' }]);
  }));

const replaceBy: Readonly<Record<string, (file: string) => void>> = {
  'is deleted': (file) => rmSync(file),
  'is replaced by another one': (file) => {
    const copy = new DatabaseSync(`${file}.copy`);
    copy.exec('create table leads (id text)');
    copy.close();
    renameSync(`${file}.copy`, file);
  },
  'loses its write-ahead log': (file) => rmSync(`${file}-wal`),
};
for (const [what, replace] of Object.entries(replaceBy)) {
  it(`no form is accepted after the database file ${what}`, () =>
    withLockableServer({}, async (server, { file }) => {
      assert.equal((await sendForm(server, 'before@example.com')).statusCode, 202);
      assert.equal((await server.app.inject(API.health)).statusCode, 200);
      replace(file);
      const health = await server.app.inject(API.health);
      assert.equal(health.statusCode, 503);
      assert.match(health.body, /^The database file was deleted or replaced .* Do not restart yet: .*\.$/);
      assert.ok(Number(health.headers['retry-after']) > 0);
      const form = await sendForm(server, 'after@example.com');
      assert.equal(form.statusCode, 503);
      assert.ok(Number(form.headers['retry-after']) > 0);
      assert.equal(await server.countRows('submissions'), 1);
    }));
}

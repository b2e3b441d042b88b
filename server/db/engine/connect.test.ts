import assert from 'node:assert/strict';
import { it } from 'node:test';

import { sql } from 'kysely';

import { acquireLocks, type Db } from '#server/db/engine/connect.ts';
import { isOutage } from '#server/db/engine/outages.ts';
import { API } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { freshDatabase, openTestDatabase, withDatabase } from '#testing/databases.ts';
import { withServer } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';

const isConnected = async (db: Db, pid: number | undefined): Promise<boolean> =>
  (await sql`select 1 from pg_stat_activity where pid = ${pid}`.execute(db)).rows.length > 0;

it('a broken PostgreSQL connection fails only its own transaction', () =>
  withDatabase('postgres', async ({ db }) => {
    await assert.rejects(
      db.transaction().execute(async (tx) => {
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
        await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(db);
        // No query is running, so the error doesn't belong to a statement.
        await until(async () => !(await isConnected(db, rows[0]?.pid)));
        await sql`select 1`.execute(tx);
      }),
      isOutage,
    );
    await sql`select 1`.execute(db);
  }));

it('PostgreSQL ends a transaction whose process is suspended, and releases its locks', async () => {
  await using database = await freshDatabase('postgres', { statementTimeoutMs: 200 });
  const { db } = database;
  const tryLock = sql`select 1 where pg_try_advisory_xact_lock(hashtextextended('ada', 0))`;
  const suspended = db.transaction().execute(async (tx) => {
    await acquireLocks(tx, 'ada');
    await until(async () => (await tryLock.execute(db)).rows.length > 0);
    await sql`select 1`.execute(tx);
  });
  await assert.rejects(suspended, isOutage);
});

it('a PostgreSQL that has stopped listening on its local socket is an outage', async () => {
  await using database = openTestDatabase({ engine: 'postgres', url: 'postgres:///leads?host=/missing' });
  await assert.rejects(sql`select 1`.execute(database.db), isOutage);
});

it('columns added by a newer release do not break prepared statements', async () => {
  const database = await freshDatabase('postgres');
  await withServer({ engine: 'postgres', database }, async (server) => {
    const flow = async (number: number) => {
      const { visitor } = await becomeLead(server, `visitor-${number}@example.com`, 1, {
        beforeCode: async ({ get }) => assert.equal((await get(API.challenge)).statusCode, 200),
      });
      assert.equal((await visitor.get(API.article)).statusCode, 200);
    };
    for (let number = 1; number <= 5; number += 1) await flow(number);
    for (const table of ['codes', 'submissions', 'outbox', 'leads', 'limit_windows'] as const)
      await sql`alter table ${sql.table(table)} add column of_a_later_release text`.execute(database.db);
    for (let number = 6; number <= 10; number += 1) await flow(number);
  });
});

const failure = (message: string, details: object = {}): Error => Object.assign(new Error(message), details);

it('an error of the program itself is not reported as a database outage', () => {
  const outages = [
    failure('terminating connection due to administrator command', { code: '57P01' }),
    failure('the database system is starting up', { code: '57P03' }),
    failure('sorry, too many clients already', { code: '53300' }),
    failure('deadlock detected', { code: '40P01' }),
    failure('canceling statement due to conflict with recovery', { code: '40001' }),
    failure('server conn crashed?', { code: '08P01' }),
    failure('connect ECONNREFUSED 127.0.0.1:5432', { code: 'ECONNREFUSED', syscall: 'connect' }),
    failure('connect ENETUNREACH 192.0.2.1:5432', { code: 'ENETUNREACH', syscall: 'connect' }),
    failure('Connection terminated unexpectedly'),
    failure('timeout exceeded when trying to connect'),
    failure('timeout expired'),
    failure('database is locked', { code: 'ERR_SQLITE_ERROR', errcode: 5 }),
    failure('database or disk is full', { code: 'ERR_SQLITE_ERROR', errcode: 13 }),
    failure('attempt to write a readonly database', { code: 'ERR_SQLITE_ERROR', errcode: 1032 }),
    failure('disk I/O error', { code: 'ERR_SQLITE_ERROR', errcode: 778 }),
    new AggregateError([
      failure('connect ECONNREFUSED ::1:5432', { code: 'ECONNREFUSED', syscall: 'connect' }),
    ]),
  ];
  for (const error of outages) assert.equal(isOutage(error), true, error.message);
  const mistakes = [
    failure('relation "lead" does not exist', { code: '42P01' }),
    failure('UNIQUE constraint failed: leads.email', { code: 'ERR_SQLITE_ERROR', errcode: 2067 }),
    failure('open article.md', { code: 'ENOENT', syscall: 'open' }),
    failure('x is not a function'),
    'text',
    null,
  ];
  for (const error of mistakes) assert.equal(isOutage(error), false, String(error));
});

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { it } from 'node:test';

import { sql } from 'kysely';
import type { Client } from 'pg';

import { API } from '#shared/api.ts';
import { withTableOnSmallDisk } from '#testing/postgres-on-a-small-disk.ts';
import { onPostgres } from '#testing/postgres-server.ts';
import { createVisitor, filledForm, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { fillDisk, whyNoDisk } from '#testing/small-disk.ts';
import { until } from '#testing/until.ts';

/** Longer than a full disk is remembered and than the interval between write probes. */
const A_WHILE_SECONDS = 61;
const A_MOMENT_SECONDS = 6;
const MAX_FORMS = 200;
/** Many forms without codes would trigger the breaker. */
const WITHOUT_BREAKER = { BREAKER_UNENTERED_PERCENT: '0' };

const health = async ({ app }: ServerUnderTest) => {
  const { statusCode, body, headers } = await app.inject(API.health);
  return { status: statusCode, body, retryAfter: headers['retry-after'] };
};

const WELL = { status: 200, body: '{"status":"ok"}', retryAfter: undefined };
const sick = (body: string) => ({ status: 503, body, retryAfter: '5' });

/** Advances only the clock, because waiting would block on a mail that cannot be recorded as sent. */
const pass = (server: ServerUnderTest, seconds: number): void =>
  server.setClock(server.now() + seconds * 1_000);

async function untilWell(server: ServerUnderTest): Promise<void> {
  await until(async () => {
    pass(server, 1);
    server.wakeWorker();
    return (await health(server)).status === 200;
  });
  // After the clock jumps, mail in the queue looks slow, and forms are refused while mail is slow.
  await until(async () => (await queuedMails(server)) === 0);
}

async function queuedMails({ database }: ServerUnderTest): Promise<number> {
  const rows = await database.db.selectFrom('outbox').select('id').where('state', '=', 'queued').execute();
  return rows.length;
}

let forms = 0;
async function sendForm(server: ServerUnderTest): Promise<number> {
  forms += 1;
  const form = filledForm({ email: `ada-${forms}@example.com`, company: 'x'.repeat(100) });
  return (await createVisitor(server, `198.51.100.${forms % 250}`).post(API.leads, form)).statusCode;
}

async function sendFormsUntilRefused(server: ServerUnderTest): Promise<void> {
  for (let count = 0; count < MAX_FORMS; count += 1) {
    const status = await sendForm(server);
    if (status === 503) return;
    assert.equal(status, 202);
  }
  assert.fail('Every form was taken.');
}

const takesWrites = ({ metric }: ServerUnderTest) => metric('lead_page_database_takes_writes');

async function tries({ database }: ServerUnderTest): Promise<number> {
  const row = await database.db
    .selectFrom('limit_windows')
    .select('count')
    .where('key', '=', 'tries to write')
    .executeTakeFirst();
  return row?.count ?? 0;
}

const FULL_SQLITE =
  'The disk of the database is full, so forms are refused. Free some space. You do not need to restart.';
const FULL_POSTGRES =
  'The disk of PostgreSQL is full, so forms are refused. Free some space. You do not need to restart.';

it('health responds with 503 on a full SQLite file until there is space again', () =>
  withServer({ engine: 'sqlite', env: WITHOUT_BREAKER }, async (server) => {
    const { db } = server.database;
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(db);
    await sql`pragma max_page_count = ${sql.lit(rows[0]?.page_count)}`.execute(db);
    assert.deepEqual(await health(server), WELL);
    assert.equal(await takesWrites(server), 1);
    await sendFormsUntilRefused(server);
    assert.deepEqual(await health(server), sick(FULL_SQLITE));
    assert.equal(await takesWrites(server), 0);
    pass(server, A_MOMENT_SECONDS);
    assert.deepEqual(await health(server), sick(FULL_SQLITE));
    assert.equal(await sendForm(server), 503);
    await sql`pragma max_page_count = 1000000`.execute(db);
    assert.deepEqual(await health(server), sick(FULL_SQLITE));
    pass(server, A_WHILE_SECONDS);
    await untilWell(server);
    assert.equal(await takesWrites(server), 1);
    assert.equal(await sendForm(server), 202);
  }));

it('health responds with 503 on a read-only SQLite file until a write or a periodic test write succeeds', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    const { db } = server.database;
    const ask = () => Promise.all(Array.from({ length: 50 }, () => health(server)));
    const readOnly = /^The database file cannot be written \(read-only\), so forms are refused\. Check /;
    for (const ends of ['by a form', 'by a test']) {
      await ask();
      assert.equal(await tries(server), 0, 'no test without a failure');
      await sql`pragma query_only = on`.execute(db);
      assert.equal(await sendForm(server), 503);
      for (const { status, body } of await ask()) {
        assert.equal(status, 503);
        assert.match(body, readOnly);
      }
      await sql`pragma query_only = off`.execute(db);
      if (ends === 'by a form') assert.equal(await sendForm(server), 202);
      else {
        assert.match((await health(server)).body, readOnly);
        pass(server, A_MOMENT_SECONDS);
      }
      for (const answer of await ask()) assert.deepEqual(answer, WELL, ends);
    }
    assert.equal(await tries(server), 1);
  }));

it('health responds with 503 on a read-only PostgreSQL until a write succeeds', () =>
  withServer({ engine: 'postgres' }, async (server) => {
    assert.equal(await sendForm(server), 202);
    await onPostgres(postgresOf(server), (client) => setReadOnly(client, 'on'));
    await until(
      async () =>
        (await sendForm(server)) === 503 &&
        (await health(server)).body.startsWith(
          'PostgreSQL cannot be written (read-only), so forms are refused. ',
        ),
    );
    assert.equal((await health(server)).status, 503);
    await onPostgres(postgresOf(server), (client) => setReadOnly(client, 'off'));
    await until(async () => (await sendForm(server)) === 202);
    assert.deepEqual(await health(server), WELL);
  }));

it(
  'health responds with 503 for PostgreSQL on a full disk, even if small writes succeed',
  { skip: whyNoDisk() },
  () =>
    withServer({ engine: 'postgres', env: WITHOUT_BREAKER }, (server) =>
      withTableOnSmallDisk(postgresOf(server), 'submissions', async (disk) => {
        const filler = fillDisk(disk);
        await sendFormsUntilRefused(server);
        assert.deepEqual(await health(server), sick(FULL_POSTGRES));
        assert.equal(await tries(server), 1);
        assert.equal(await sendForm(server), 503);
        assert.deepEqual(await health(server), sick(FULL_POSTGRES));
        rmSync(filler);
        assert.equal(await sendForm(server), 202);
        pass(server, A_WHILE_SECONDS);
        await untilWell(server);
      }),
    ),
);

function postgresOf({ config: { database } }: ServerUnderTest): string {
  assert(database.engine === 'postgres');
  return database.url;
}

async function setReadOnly(client: Client, value: 'on' | 'off'): Promise<void> {
  await client.query('set default_transaction_read_only = off');
  const { rows } = await client.query<{ name: string }>('select current_database() as name');
  await client.query(`alter database ${rows[0]?.name} set default_transaction_read_only = ${value}`);
  await client.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
}

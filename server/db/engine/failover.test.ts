import assert from 'node:assert/strict';
import { it } from 'node:test';

import { sql } from 'kysely';

import { openDatabase, type Db, type OpenDatabase } from '#server/db/engine/connect.ts';
import { migrate } from '#server/db/migrations/migrate.ts';
import { isOutage } from '#server/db/engine/outages.ts';
import { createPostgresDatabase } from '#testing/databases.ts';
import { startForwarder, type Forwarder } from '#testing/forwarder.ts';
import { startPostgresPair, type PostgresPair } from '#testing/postgres-pair.ts';
import { until } from '#testing/until.ts';
import { valuesOf } from '#testing/values-of.ts';

const open = (url: string, statementTimeoutMs: number): OpenDatabase =>
  openDatabase({ engine: 'postgres', url }, () => {}, { statementTimeoutMs });

async function portOf(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ port: number }>`select inet_server_port() as port`.execute(db);
  return rows[0]?.port;
}

async function store(db: Db, id: string): Promise<boolean> {
  try {
    await db
      .transaction()
      .execute((tx) => tx.insertInto('known_secrets').values({ id, first_used_at: 0 }).execute());
    return true;
  } catch (error) {
    assert(isOutage(error), String(error));
    return false;
  }
}

const idsIn = async (db: Db): Promise<string[]> =>
  valuesOf(await db.selectFrom('known_secrets').select('id').orderBy('id').execute(), 'id');

const [PATIENCE_MS, IMPATIENCE_MS] = [8_000, 1_000];

async function withPair(
  story: (
    pair: PostgresPair,
    endpoint: Forwarder,
    openThere: (timeoutMs?: number) => OpenDatabase,
  ) => Promise<void>,
): Promise<void> {
  await using pair = await startPostgresPair('off');
  await using endpoint = await startForwarder(pair.a.port);
  const opened: OpenDatabase[] = [];
  const openThere = (timeoutMs = PATIENCE_MS) => {
    const database = open(pair.a.url.replace(`:${pair.a.port}/`, `:${endpoint.port}/`), timeoutMs);
    opened.push(database);
    return database;
  };
  try {
    await migrate(openThere());
    await story(pair, endpoint, openThere);
  } finally {
    await Promise.all(opened.map(({ close }) => close()));
  }
}

it('acknowledged writes survive the loss of the PostgreSQL primary', () =>
  withPair(async ({ a, b }, endpoint, openThere) => {
    const { db } = openThere();
    assert(await store(db, 'before'));
    await b.stop('SIGKILL');
    // PostgreSQL reports a cancelled commit as committed, but the standby lacks it.
    const cancelCommit = () =>
      until(async () => {
        const rows = await a.ask(
          "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'",
        );
        return rows.length > 0;
      });
    const cancelled = store(db, 'cancelled');
    await cancelCommit();
    assert.equal(await cancelled, false);

    const { db: single, writes } = openThere();
    const alone = single.insertInto('known_secrets').values({ id: 'alone', first_used_at: 0 }).execute();
    await Promise.all([assert.rejects(alone, isOutage), cancelCommit()]);
    await idsIn(single);
    assert.equal(writes.fault(), 'late', 'a statement that only reads does not end the fault');

    const { db: hasty } = openThere(IMPATIENCE_MS);
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, number) => store(hasty, `waits ${number}`)),
    );
    assert.deepEqual(new Set(outcomes), new Set([false]));
    const waiting = () => a.ask("select pid from pg_stat_activity where wait_event = 'SyncRep'");
    assert.equal((await waiting()).length, 12);
    await b.start();
    await until(async () => (await waiting()).length === 0);
    await until(() => store(db, 'replicated'));
    const kept = await idsIn(db);
    assert.equal(kept.filter((id) => id.startsWith('waits')).length, 12);

    await a.stop('SIGKILL');
    assert.equal(await store(hasty, 'lost'), false);
    await b.promote();
    endpoint.forwardTo(b.port);
    await until(() => store(db, 'afterwards'));
    assert.equal(await portOf(db), b.port);
    assert.deepEqual(await idsIn(db), ['afterwards', ...kept]);
  }));

it('connections leave a PostgreSQL server that becomes read-only', () =>
  withPair(async ({ a, b }, endpoint, openThere) => {
    const { db } = openThere(IMPATIENCE_MS);
    await Promise.all(Array.from({ length: 10 }, () => sql`select pg_sleep(0.05)`.execute(db)));
    await b.promote();
    endpoint.forwardTo(b.port);
    await a.ask('alter system set default_transaction_read_only = on');
    await a.ask('select pg_reload_conf()');
    await until(() => store(db, 'last'));
    assert.equal(await portOf(db), b.port);
  }));

it('a connection pool can be closed even if its server does not respond', async () => {
  const url = new URL(await createPostgresDatabase());
  await using endpoint = await startForwarder(Number(url.port));
  url.host = `127.0.0.1:${endpoint.port}`;
  const { db, close } = open(url.href, 500);
  await Promise.all([1, 2, 3].map(() => sql`select pg_sleep(0.05)`.execute(db)));
  endpoint.stall();
  await assert.rejects(sql`select 1`.execute(db), isOutage);
  const late = Promise.allSettled([sql`select 2`.execute(db), sql`select 3`.execute(db)]);
  await close();
  assert.deepEqual(valuesOf(await late, 'status'), ['rejected', 'rejected']);
});

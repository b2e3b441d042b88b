import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { it } from 'node:test';

import { sql } from 'kysely';

import { openDatabase, type Db, type OpenDatabase } from '#server/db/engine/connect.ts';
import { migrate } from '#server/db/migrations/migrate.ts';
import { isOutage } from '#server/db/engine/outages.ts';
import { createPostgresDatabase } from '#testing/databases.ts';
import { startPostgresPair, type PostgresPair } from '#testing/postgres-pair.ts';
import { until } from '#testing/until.ts';

const open = (url: string, statementTimeoutMs?: number): OpenDatabase =>
  openDatabase(
    { engine: 'postgres', url },
    () => {},
    statementTimeoutMs === undefined ? {} : { statementTimeoutMs },
  );

async function portOf(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ port: number }>`select inet_server_port() as port`.execute(db);
  return rows[0]?.port;
}

/** Stores something; whether that was acknowledged. */
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
  (await db.selectFrom('known_secrets').select('id').orderBy('id').execute()).map(({ id }) => id);

/** For what is to succeed, however busy the machine is; and for what is to fail, and is waited for. */
const [PATIENCE_MS, IMPATIENCE_MS] = [8_000, 1_000];

async function withPair(story: (pair: PostgresPair, database: OpenDatabase) => Promise<void>): Promise<void> {
  const pair = await startPostgresPair({ fsync: 'off' });
  const database = open(pair.url('postgres'), PATIENCE_MS);
  try {
    await migrate(database);
    await story(pair, database);
  } finally {
    await database.close();
    await pair.close();
  }
}

it('of several PostgreSQL hosts the primary is used, and what was acknowledged outlives it', () =>
  withPair(async ({ a, b, url }, { db }) => {
    // In whatever order they are named; and alone only where the address asks for one that takes writes.
    const reversed = url('postgres').replace(/@([^,]+),([^/]+)/, '@$2,$1');
    for (const address of [url('postgres'), reversed]) {
      const { db: another, close } = open(address);
      assert.equal(await portOf(another), a.port, address);
      await close();
    }
    const standby = open(`${b.url}?target_session_attrs=read-write`);
    await assert.rejects(portOf(standby.db), { code: '25006' });
    await standby.close();

    assert(await store(db, 'before'));
    await b.stop('SIGKILL');
    // Cancelled, PostgreSQL calls it committed: only the standby does not have it.
    const cancelled = store(db, 'cancelled');
    await until(async () => {
      const rows = await a.ask(
        "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'",
      );
      return rows.length > 0;
    });
    assert.equal(await cancelled, false);
    // More than there are connections, which they keep: on the server they wait as well.
    const hasty = open(url('postgres'), IMPATIENCE_MS);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, number) => store(hasty.db, `waits ${number}`)),
    );
    assert.deepEqual(new Set(answers), new Set([false]));
    const waiting = () => a.ask("select pid from pg_stat_activity where wait_event = 'SyncRep'");
    assert.equal((await waiting()).length, 10);
    await b.start();
    await until(async () => (await waiting()).length === 0);
    await until(() => store(db, 'replicated'));
    const kept = await idsIn(db);
    assert.equal(kept.filter((id) => id.startsWith('waits')).length, 10);

    await a.stop('SIGKILL');
    assert.equal(await store(hasty.db, 'lost'), false);
    await hasty.close();
    await b.promote();
    await until(() => store(db, 'afterwards'));
    assert.equal(await portOf(db), b.port);
    assert.deepEqual(await idsIn(db), ['afterwards', ...kept]);

    // The old one comes back, and takes writes as well: a new search finds the one that was promoted.
    await a.start();
    assert.deepEqual(await a.ask('select pg_is_in_recovery() as standby'), [{ standby: false }]);
    const another = open(url('postgres'));
    assert.equal(await portOf(another.db), b.port);
    await another.close();
  }));

/** A proxy that can silently stop passing anything, as when packets are dropped. */
async function startLine(port: number) {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((socket) => {
    const onward = connect(port, '127.0.0.1');
    for (const one of [socket, onward]) {
      sockets.add(one);
      one.on('error', () => {});
    }
    if (isCut) return;
    socket.pipe(onward).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

it('a host that takes no writes any more is left, and so is one that falls silent', () =>
  withPair(async ({ a, b, url }, { db: patient }) => {
    const line = await startLine(a.port);
    const { db, close } = open(
      a.url.replace(/@.*\//, `@127.0.0.1:${line.port},127.0.0.1:${b.port}/`),
      IMPATIENCE_MS,
    );
    const { db: direct, close: closeDirect } = open(url('postgres'), IMPATIENCE_MS);
    try {
      assert(await store(patient, 'before'));
      await Promise.all(Array.from({ length: 10 }, () => sql`select pg_sleep(0.05)`.execute(db)));
      line.cut();
      await b.promote();
      await until(() => store(db, 'after'));
      assert.equal(await portOf(db), b.port);
      assert.deepEqual(await idsIn(db), ['after', 'before']);
      // All its connections are made, and idle.
      await Promise.all(Array.from({ length: 10 }, () => sql`select pg_sleep(0.05)`.execute(direct)));
      await a.ask('alter system set default_transaction_read_only = on');
      await a.ask('select pg_reload_conf()');
      await until(() => store(direct, 'last'));
      assert.equal(await portOf(direct), b.port);
    } finally {
      await close();
      await closeDirect();
      line.close();
    }
  }));

it('a pool whose host is silent closes', async () => {
  const url = new URL(await createPostgresDatabase());
  const line = await startLine(Number(url.port));
  url.host = `127.0.0.1:${line.port}`;
  const { db, close } = open(url.href, 500);
  await Promise.all([1, 2, 3].map(() => sql`select pg_sleep(0.05)`.execute(db)));
  line.cut();
  await assert.rejects(sql`select 1`.execute(db), isOutage);
  const late = Promise.allSettled([sql`select 2`.execute(db), sql`select 3`.execute(db)]);
  await close();
  assert.deepEqual(
    (await late).map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  line.close();
});

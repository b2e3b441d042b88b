import assert from 'node:assert/strict';
import { it } from 'node:test';

import { sql } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { isOutage } from '#server/db/engine/outages.ts';
import { freshDatabase } from '#testing/databases.ts';
import { until } from '#testing/until.ts';

it('the error that made SQLite give up a transaction is the one that is thrown', async () => {
  const { db, close } = await freshDatabase('sqlite');
  try {
    const outage = Object.assign(new Error('disk I/O error'), { errcode: 778 });
    await assert.rejects(
      db.transaction().execute(async (tx) => {
        // What SQLite does by itself when a disk is full.
        await sql`rollback`.execute(tx);
        throw outage;
      }),
      outage,
    );
    // And the connection is as good as before.
    await db
      .transaction()
      .execute((tx) =>
        tx.insertInto('limit_windows').values({ key: 'x', started_at: 0, ends_at: 1, count: 1 }).execute(),
      );
  } finally {
    await close();
  }
});

const isConnected = async (db: Db, pid: number | undefined): Promise<boolean> =>
  (await sql`select 1 from pg_stat_activity where pid = ${pid}`.execute(db)).rows.length > 0;

it('a PostgreSQL connection that breaks inside a transaction fails that transaction and nothing else', async () => {
  const { db, close } = await freshDatabase('postgres');
  try {
    await assert.rejects(
      db.transaction().execute(async (tx) => {
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
        await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(db);
        // No query runs while it breaks: the error has no statement to belong to.
        await until(async () => !(await isConnected(db, rows[0]?.pid)));
        await sql`select 1`.execute(tx);
      }),
      isOutage,
    );
    await sql`select 1`.execute(db);
  } finally {
    await close();
  }
});

import { sql } from 'kysely';

import { acquireLocks, type Db, type OpenDatabase } from '#server/db/engine/connect.ts';
import { until } from '#testing/until.ts';

export async function countLockWaiters(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())
  `.execute(db);
  return rows[0]!.count;
}

/** Counts the statements that wait for a row or another lock on PostgreSQL. */
export async function countWaitingStatements(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'
  `.execute(db);
  return rows[0]!.count;
}

/** On PostgreSQL: starts the second step once the first waits for the lock, then releases the lock, so they run in this order. */
export async function inTurnBehindLock<First, Second>(
  { db }: OpenDatabase,
  email: string,
  steps: readonly [() => Promise<First>, () => Promise<Second>],
): Promise<[First, Second]> {
  const started = await db.transaction().execute(async (tx) => {
    await acquireLocks(tx, email);
    // The lock statement was only sent. The next response proves that the lock is held.
    await sql`select 1`.execute(tx);
    const first = steps[0]();
    await until(async () => (await countLockWaiters(db)) === 1);
    const second = steps[1]();
    await until(async () => (await countLockWaiters(db)) === 2);
    return { first, second };
  });
  return Promise.all([started.first, started.second]);
}

/** Runs two concurrent steps in order on either engine. SQLite needs no lock, because it has only one writer at a time. */
export async function inTurn<First, Second>(
  database: OpenDatabase,
  email: string,
  steps: readonly [() => Promise<First>, () => Promise<Second>],
): Promise<[First, Second]> {
  if (database.engine === 'postgres') return inTurnBehindLock(database, email, steps);
  const writing = database.db.transaction().execute((tx) => sql`select 1`.execute(tx));
  const [first, second] = await Promise.all([steps[0](), steps[1](), writing]);
  return [first, second];
}

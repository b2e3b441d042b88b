// Races for one e-mail address, in an order that a test chooses.
import { sql } from 'kysely';

import { lockAddress } from '#server/db/engine/address-lock.ts';
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { until } from '#testing/until.ts';

/** How many statements wait for an advisory lock in this database. */
export async function countLockWaiters(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())
  `.execute(db);
  return rows[0]!.count;
}

/**
 * Locks an address, begins each step once the one before waits for the lock, and lets them through in that order.
 * @returns what each step came to
 */
export async function inTurnBehindLock<First, Second>(
  { db, engine }: OpenDatabase,
  email: string,
  steps: readonly [() => Promise<First>, () => Promise<Second>],
): Promise<[First, Second]> {
  const begun = await db.transaction().execute(async (tx) => {
    await lockAddress(tx, engine, email);
    // The lock was only sent. The answer to a later statement shows that it is held; without it, a step may take it first.
    await sql`select 1`.execute(tx);
    const first = steps[0]();
    await until(async () => (await countLockWaiters(db)) === 1);
    const second = steps[1]();
    await until(async () => (await countLockWaiters(db)) === 2);
    return { first, second };
  });
  return Promise.all([begun.first, begun.second]);
}

/** The same on either engine. SQLite has one writer at a time: the steps begin together, and wait for each other there. */
export const inTurn = <First, Second>(
  database: OpenDatabase,
  email: string,
  steps: readonly [() => Promise<First>, () => Promise<Second>],
): Promise<[First, Second]> =>
  database.engine === 'postgres'
    ? inTurnBehindLock(database, email, steps)
    : Promise.all([
        database.db.transaction().execute((tx) => sql`select 1`.execute(tx)),
        steps[0](),
        steps[1](),
      ]).then(([, first, second]) => [first, second]);

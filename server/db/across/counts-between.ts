// Counts the rows of a time by their ids alone, which are in an index: quick also in a long table.
import { sql } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { firstIdAt, type TimedTable } from '#server/db/engine/first-id-at.ts';

/**
 * Counts the rows of a table between moments.
 * @param moments in milliseconds since 1970, in ascending order
 * @returns a count for each two neighbours: from the first of them on, and before the second
 */
export async function countsBetween(
  db: Db,
  timed: TimedTable,
  moments: readonly number[],
): Promise<readonly number[]> {
  const places: string[] = [];
  for (const moment of moments) places.push(await firstIdAt(db, timed, moment));
  const counts: number[] = [];
  for (const [at, place] of places.slice(0, -1).entries()) {
    const next = places[at + 1]!;
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(timed.table)} where id >= ${place} and id < ${next}
    `.execute(db);
    counts.push(rows[0]?.count ?? 0);
  }
  return counts;
}

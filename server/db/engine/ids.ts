// IDs are UUIDs of version 7 made from the row's time, so the primary key sorts by time and serves as an index by time.
import { sql } from 'kysely';
import { v7 as uuid } from 'uuid';

import type { Db } from '#server/db/engine/connect.ts';

let sequence = 0;

/** Returns an ID that sorts by time and, within a millisecond, by call. @param ms the row's time */
export function newIdAt(ms: number): string {
  sequence = (sequence + 1) % 2 ** 31;
  return uuid({ msecs: ms, seq: sequence });
}

/** Returns the lowest ID of a time. RFC 9562, section 5.7: the first 48 bits are milliseconds. */
export function lowestIdAt(ms: number): string {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** Returns the time of an ID; NaN for another format. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** Both exclusive. */
export type IdRange = { readonly begin: string; readonly end: string | null };

/** @param since included @param until excluded; milliseconds since 1970 */
export const idsBetween = (since?: number, until?: number): IdRange => ({
  begin: since === undefined ? '' : lowestIdAt(since),
  end: until === undefined ? null : lowestIdAt(until),
});

const COUNTS_PER_QUERY = 10;

/** @param spans from: included; to: excluded; milliseconds since 1970 */
export async function countsBetween(
  db: Db,
  table: 'leads' | 'submissions',
  spans: readonly { readonly from: number; readonly to: number }[],
): Promise<readonly number[]> {
  const counts: number[] = [];
  for (let first = 0; first < spans.length; first += COUNTS_PER_QUERY) {
    const columns = spans.slice(first, first + COUNTS_PER_QUERY).map(
      ({ from, to }, index) => sql`(
        select count(*) from ${sql.table(table)} where id >= ${lowestIdAt(from)} and id < ${lowestIdAt(to)}
      ) as ${sql.ref(`v${index}`)}`,
    );
    const { rows } = await sql<Record<string, number>>`select ${sql.join(columns)}`.execute(db);
    counts.push(...columns.map((_, index) => rows[0]![`v${index}`]!));
  }
  return counts;
}

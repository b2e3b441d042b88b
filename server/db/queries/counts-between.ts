// Uses only the index of IDs, fast even in a long table.
import { sql } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { firstIdsAt, oneRow, type TimedTable } from '#server/db/engine/first-id-at.ts';

/** Spans per statement, so none lasts. */
const AT_ONCE = 10;

/** @param spans from: included; to: excluded; milliseconds since 1970 */
export async function countsBetween(
  db: Db,
  timed: TimedTable,
  spans: readonly { readonly from: number; readonly to: number }[],
): Promise<readonly number[]> {
  const counts: number[] = [];
  for (let first = 0; first < spans.length; first += AT_ONCE) {
    const some = spans.slice(first, first + AT_ONCE);
    const places = await firstIdsAt(
      db,
      timed,
      some.flatMap(({ from, to }) => [from, to]),
    );
    counts.push(
      ...(await oneRow<number>(
        db,
        some.map(
          (_, at) =>
            sql`(select count(*) from ${sql.table(timed.table)} where id >= ${places[2 * at]} and id < ${places[2 * at + 1]})`,
        ),
      )),
    );
  }
  return counts;
}

// Finds the place of a moment among the ids of a table, which sort by time. An id has the time of the machine and its row that of the
// service, so the row decides. A few look-ups by the primary key: no column of times needs an index.
import { sql } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { lowestIdAt, timeOfId } from '#server/db/engine/ids.ts';

/** A table, and its column of the time at which a row was made. */
export type TimedTable =
  | { readonly table: 'leads'; readonly column: 'first_verified_at' }
  | { readonly table: 'submissions' | 'challenges' | 'codes'; readonly column: 'created_at' }
  | { readonly table: 'imported_leads'; readonly column: 'imported_at' };

type Row = { readonly id: string; readonly at: number };

/** @returns the id before which all rows are older than a moment, and from which on none is. @param ms milliseconds since 1970 */
export async function firstIdAt(db: Db, { table, column }: TimedTable, ms: number): Promise<string> {
  const nearest = async (id: string, side: 'before' | 'from'): Promise<Row | undefined> => {
    const [comparison, order] = side === 'before' ? [sql`<`, sql`desc`] : [sql`>=`, sql`asc`];
    const { rows } = await sql<Row>`
      select id, ${sql.ref(column)} as at from ${sql.table(table)}
      where id ${comparison} ${id} order by id ${order} limit 1
    `.execute(db);
    return rows[0];
  };
  const isPlace = async (id: string) => {
    const [before, from] = [await nearest(id, 'before'), await nearest(id, 'from')];
    return (before === undefined || before.at < ms) && (from === undefined || from.at >= ms);
  };
  const guess = lowestIdAt(ms);
  if (await isPlace(guess)) return guess;
  const [first, last] = [await nearest('', 'from'), await nearest(HIGHEST, 'before')];
  if (first === undefined || last === undefined) return guess;
  // Every row before `low` is older; none from `high` on is.
  let [low, high] = [timeOfId(first.id), timeOfId(last.id) + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = await nearest(lowestIdAt(middle + 1), 'before');
    if (row === undefined || row.at < ms) low = middle + 1;
    else high = middle;
  }
  return lowestIdAt(low);
}

const HIGHEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

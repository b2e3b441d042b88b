// Finds the place of a moment among the ids of a table, which sort by time. An id has the time of the machine and its row that of the
// service, so the row decides. A few look-ups by the primary key: no column of times needs an index.
import { sql, type RawBuilder } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { lowestIdAt, timeOfId } from '#server/db/engine/ids.ts';

/** A table, and its column of the time at which a row was made. */
export type TimedTable =
  | { readonly table: 'leads'; readonly column: 'first_verified_at' }
  | { readonly table: 'submissions'; readonly column: 'created_at' }
  | { readonly table: 'imported_leads'; readonly column: 'imported_at' };

/** The row before an id, or from it on. */
const nearest = ({ table }: TimedTable, what: string, [comparison, order]: typeof BEFORE, id: string) =>
  sql`(select ${sql.ref(what)} from ${sql.table(table)} where id ${comparison} ${id} order by id ${order} limit 1)`;
const BEFORE = [sql`<`, sql`desc`] as const;
const FROM = [sql`>=`, sql`asc`] as const;

/**
 * Finds the places of some moments.
 * @param moments milliseconds since 1970
 * @returns for each the id before which all rows are older, and from which on none is
 */
export async function firstIdsAt(
  db: Db,
  timed: TimedTable,
  moments: readonly number[],
): Promise<readonly string[]> {
  const places = moments.map((ms) => ({ ms, guess: lowestIdAt(ms) }));
  const neighbours = await oneRow<number | null>(
    db,
    places.flatMap(({ guess }) => [
      nearest(timed, timed.column, BEFORE, guess),
      nearest(timed, timed.column, FROM, guess),
    ]),
  );
  const found: string[] = [];
  for (const [at, { ms, guess }] of places.entries()) {
    const [before, from] = [neighbours[2 * at] ?? null, neighbours[2 * at + 1] ?? null];
    const isPlace = (before === null || before < ms) && (from === null || from >= ms);
    found.push(isPlace ? guess : await searchFor(db, timed, ms));
  }
  return found;
}

/** The place of one moment. */
const firstIdAt = async (db: Db, timed: TimedTable, ms: number): Promise<string> =>
  (await firstIdsAt(db, timed, [ms]))[0]!;

/** Ids are made a moment after the time was noted that stands in the row, and processes differ a little. */
const ID_TOLERANCE_MS = 60_000;

/**
 * Where the rows of a time are. Some at its edges are of another: their own time says which.
 * @param time milliseconds since 1970; undefined: no bound
 * @returns begin: the key after which they begin; end: the key before which they end, null: none
 */
export async function idsAround(
  db: Db,
  timed: TimedTable,
  { since, until }: { readonly since?: number | undefined; readonly until?: number | undefined },
): Promise<{ readonly begin: string; readonly end: string | null }> {
  return {
    begin: since === undefined ? '' : await firstIdAt(db, timed, since - ID_TOLERANCE_MS),
    end: until === undefined ? null : await firstIdAt(db, timed, until + ID_TOLERANCE_MS),
  };
}

/** Halves the time of the table until the place is found. */
async function searchFor(db: Db, timed: TimedTable, ms: number): Promise<string> {
  const [first, last] = await oneRow<string | null>(db, [
    nearest(timed, 'id', FROM, ''),
    nearest(timed, 'id', BEFORE, HIGHEST),
  ]);
  if (!first || !last) return lowestIdAt(ms);
  // Every row before `low` is older; none from `high` on is.
  let [low, high] = [timeOfId(first), timeOfId(last) + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [at] = await oneRow<number | null>(db, [
      nearest(timed, timed.column, BEFORE, lowestIdAt(middle + 1)),
    ]);
    if (at === undefined || at === null || at < ms) low = middle + 1;
    else high = middle;
  }
  return lowestIdAt(low);
}

const HIGHEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Asks for several values in one statement. */
export async function oneRow<Value>(
  db: Db,
  values: readonly RawBuilder<unknown>[],
): Promise<readonly Value[]> {
  const columns = values.map((value, at) => sql`${value} as ${sql.ref(`v${at}`)}`);
  const { rows } = await sql<Record<string, Value>>`select ${sql.join(columns)}`.execute(db);
  return values.map((_, at) => rows[0]![`v${at}`]!);
}

// A few primary-key look-ups instead of a time index. An ID has its machine's time, a row the service's, so the row decides.
import { sql, type RawBuilder } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { lowestIdAt, timeOfId } from '#server/db/engine/ids.ts';

export type TimedTable =
  | { readonly table: 'leads'; readonly column: 'first_verified_at' }
  | { readonly table: 'submissions'; readonly column: 'created_at' }
  | { readonly table: 'imported_leads'; readonly column: 'imported_at' };

const nearest = ({ table }: TimedTable, what: string, [comparison, order]: typeof BEFORE, id: string) =>
  sql`(select ${sql.ref(what)} from ${sql.table(table)} where id ${comparison} ${id} order by id ${order} limit 1)`;
const BEFORE = [sql`<`, sql`desc`] as const;
const FROM = [sql`>=`, sql`asc`] as const;

/**
 * @param moments milliseconds since 1970
 * @returns for each, the ID that divides older rows from the others
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

const firstIdAt = async (db: Db, timed: TimedTable, ms: number): Promise<string> =>
  (await firstIdsAt(db, timed, [ms]))[0]!;

/** IDs are made slightly after their row's time, and processes differ a little. */
const ID_TOLERANCE_MS = 60_000;

/**
 * Rows at its edges may lie outside, so check their own time.
 * @param time milliseconds since 1970; undefined: no bound
 * @returns begin and end, both exclusive; end is null without a bound
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

export async function oneRow<Value>(
  db: Db,
  values: readonly RawBuilder<unknown>[],
): Promise<readonly Value[]> {
  const columns = values.map((value, at) => sql`${value} as ${sql.ref(`v${at}`)}`);
  const { rows } = await sql<Record<string, Value>>`select ${sql.join(columns)}`.execute(db);
  return values.map((_, at) => rows[0]![`v${at}`]!);
}

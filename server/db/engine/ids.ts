// IDs are UUIDs of version 7: they begin with their time, so the primary key sorts by time.
import { sql, type RawBuilder } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';

/** The first 48 bits are milliseconds since 1970 (RFC 9562, section 5.7). */
export function lowestIdAt(ms: number): string {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** NaN for an ID of another format. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

// Finds rows by a few primary-key lookups instead of a time index. ID and row may be timed by different clocks; the row's time
// decides.

export type TimedTable =
  | { readonly table: 'leads'; readonly column: 'first_verified_at' }
  | { readonly table: 'submissions'; readonly column: 'created_at' }
  | { readonly table: 'imported_leads'; readonly column: 'imported_at' };

const nearest = ({ table }: TimedTable, what: string, [comparison, order]: typeof BEFORE, id: string) =>
  sql`(select ${sql.ref(what)} from ${sql.table(table)} where id ${comparison} ${id} order by id ${order} limit 1)`;
const BEFORE = [sql`<`, sql`desc`] as const;
const FROM = [sql`>=`, sql`asc`] as const;

/** @returns for each moment the ID that separates older rows from the others */
async function firstIdsAt(db: Db, timed: TimedTable, moments: readonly number[]): Promise<readonly string[]> {
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

/** IDs are made slightly after their row's time, and clocks differ. */
const ID_TOLERANCE_MS = 60_000;

/**
 * Rows near the edges may lie outside, so check their own time.
 * @param time undefined for no bound
 * @returns exclusive bounds; end is null without a bound
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
  // Rows before `low` are older; rows from `high` on are not.
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

async function oneRow<Value>(db: Db, values: readonly RawBuilder<unknown>[]): Promise<readonly Value[]> {
  const columns = values.map((value, at) => sql`${value} as ${sql.ref(`v${at}`)}`);
  const { rows } = await sql<Record<string, Value>>`select ${sql.join(columns)}`.execute(db);
  return values.map((_, at) => rows[0]![`v${at}`]!);
}

const AT_ONCE = 10;

/**
 * Uses only the primary key, so it is fast even in a long table.
 * @param spans from: included; to: excluded
 */
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

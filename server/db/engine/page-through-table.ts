import { setImmediate } from 'node:timers/promises';

import type { Db } from '#server/db/engine/connect.ts';
import type { IdRange } from '#server/db/engine/ids.ts';

/** @param readAfter reads rows after a key, in key order, up to a limit */
export async function* pagesAfter<Row, Key>(
  begin: Key,
  readAfter: (after: Key) => Promise<readonly Row[]>,
  keyOf: (row: Row) => Key,
): AsyncGenerator<readonly Row[], void, void> {
  let after = begin;
  for (;;) {
    const page = await readAfter(after);
    const last = page.at(-1);
    if (last === undefined) return;
    after = keyOf(last);
    await setImmediate();
    yield page;
  }
}

export const SLICE_SIZE = 5_000;

/** `after` is exclusive, `last` inclusive. */
export type Slice = { readonly after: string; readonly last: string };

type SlicedTable = 'codes' | 'leads' | 'submissions' | 'imported_leads';

const ALL: IdRange = { begin: '', end: null };

/** Yields slices of IDs, so a statement reads few rows even if it finds none. */
export async function* slicesOf(
  db: Db,
  table: SlicedTable,
  range: IdRange = ALL,
  size = SLICE_SIZE,
): AsyncGenerator<Slice, void, void> {
  const readSlice = async (after: string): Promise<readonly Slice[]> => {
    const rest = idsIn(db, table, { ...range, begin: after });
    const row =
      (await rest
        .orderBy('id')
        .offset(size - 1)
        .executeTakeFirst()) ?? (await rest.orderBy('id', 'desc').executeTakeFirst());
    return row === undefined ? [] : [{ after, last: row.id }];
  };
  for await (const [slice] of pagesAfter(range.begin, readSlice, ({ last }) => last)) yield slice!;
}

/** @param upTo the highest ID, included; null: the end of the range */
export async function* slicesBackwards(
  db: Db,
  table: SlicedTable,
  range: IdRange = ALL,
  upTo: string | null = null,
  size = SLICE_SIZE,
): AsyncGenerator<Slice, void, void> {
  const readSlice = (from: string | null) => sliceBelow(db, table, range, from, size);
  for await (const [slice] of pagesAfter(upTo, readSlice, ({ after }) => after)) yield slice!;
}

async function sliceBelow(
  db: Db,
  table: SlicedTable,
  range: IdRange,
  from: string | null,
  size: number,
): Promise<readonly Slice[]> {
  const last = from ?? (await idsIn(db, table, range).orderBy('id', 'desc').executeTakeFirst())?.id;
  if (last === undefined || last <= range.begin) return [];
  const upToLast = idsIn(db, table, { begin: range.begin, end: null }).where('id', '<=', last);
  const below = await upToLast.orderBy('id', 'desc').offset(size).executeTakeFirst();
  return [{ after: below?.id ?? range.begin, last }];
}

/** Uses one bound per side, because SQLite seeks to the first of two bounds and scans up to the second. */
const idsIn = (db: Db, table: SlicedTable, { begin, end }: IdRange) =>
  db
    .selectFrom(table)
    .select('id')
    .where('id', '>', begin)
    .$if(end !== null, (query) => query.where('id', '<', end!))
    .limit(1);

export type SearchPage<Row> = {
  readonly found: readonly Row[];
  readonly next: string | null;
};

/** The first page often contains enough; with a narrow filter, a few large slices are better. */
const FIRST_SIZE = 100;
const GROWTH = 5;

/**
 * Searches from the newest ID down. Finishes the slice once enough is found or time is up.
 * @param read reads the wanted rows of a slice, newest first
 */
export async function searchBackwards<Row extends { readonly id: string }>(
  db: Db,
  table: SlicedTable,
  range: IdRange,
  upTo: string | null,
  read: (slice: Slice) => Promise<readonly Row[]>,
  { limit, timeLimitMs }: { readonly limit: number; readonly timeLimitMs: number },
): Promise<SearchPage<Row>> {
  const until = performance.now() + timeLimitMs;
  const found: Row[] = [];
  let from = upTo;
  for (let size = FIRST_SIZE; ; size = Math.min(size * GROWTH, SLICE_SIZE)) {
    const [slice] = await sliceBelow(db, table, range, from, size);
    if (slice === undefined) return { found, next: null };
    found.push(...(await read(slice)));
    const next = found[limit];
    if (next !== undefined) return { found: found.slice(0, limit), next: next.id };
    from = slice.after;
    if (performance.now() >= until) return { found, next: from === range.begin ? null : from };
  }
}

// Reads a long table a page at a time: no statement lasts, a million rows need no more memory than a thousand, and others have their
// turn between two pages.
import { setImmediate } from 'node:timers/promises';

import type { Db } from '#server/db/engine/connect.ts';

/**
 * Reads pages until one is empty, each while the caller works on the one before it: otherwise PostgreSQL and this process would wait for
 * each other in turns (an export took 1.4 times as long).
 * @param begin the key after which the first page begins
 * @param readAfter reads the rows that follow a key, in its order, up to a limit
 * @param keyOf the key of a row, by which the pages are ordered
 * @param options readsAhead: false where what comes next depends on the work
 */
export async function* pagesAfter<Row, Key>(
  begin: Key,
  readAfter: (after: Key) => Promise<readonly Row[]>,
  keyOf: (row: Row) => Key,
  { readsAhead = true }: { readonly readsAhead?: boolean } = {},
): AsyncGenerator<readonly Row[], void, void> {
  let reading = readAfter(begin);
  try {
    for (;;) {
      const page = await reading;
      const last = page.at(-1);
      if (last === undefined) return;
      if (readsAhead) reading = readAfter(keyOf(last));
      // A failure is thrown when this page is asked for.
      reading.catch(() => {});
      // Sends the statement, and lets others have their turn.
      await setImmediate();
      yield page;
      if (!readsAhead) reading = readAfter(keyOf(last));
    }
  } finally {
    // No statement goes on behind the back of a caller that has enough.
    await reading.catch(() => {});
  }
}

/** Rows looked at in one statement where few of them are wanted, or someone waits. */
export const SLICE_SIZE = 5_000;

/** What comes after one key, up to and including another. */
export type Slice = { readonly after: string; readonly last: string };

/** Tables that can be cut into slices. */
type SlicedTable = 'codes' | 'leads' | 'submissions' | 'imported_leads';

/**
 * Cuts an indexed column into slices of `size` rows, for statements that want few of them or count them.
 * @param column newestFirst: from the highest key down. size: of each slice, or a
 *   function that says it of the next one
 * @param range everything if not given. begin: the key after which the first slice begins; end: the key before which the last one ends,
 *   null: none; upTo: the highest key that is wanted, itself included, where the newest come first
 */
export async function* slicesOf(
  db: Db,
  {
    table,
    column,
    size,
    newestFirst = false,
  }: {
    table: SlicedTable;
    column: 'id' | 'email';
    size: number | (() => number);
    newestFirst?: boolean;
  },
  {
    begin = '',
    end = null,
    upTo = null,
  }: { readonly begin?: string; readonly end?: string | null; readonly upTo?: string | null } = {},
): AsyncGenerator<Slice, void, void> {
  const nextSize = () => (typeof size === 'number' ? size : size());
  // One bound a side: SQLite seeks by the first of two, and walks through all rows up to the second.
  const rest = (after: string, last: string | null = null) =>
    db
      .selectFrom(table)
      .select(column)
      .where(column, '>', after)
      .$if(last !== null, (query) => query.where(column, '<=', last!))
      .$if(last === null && end !== null, (query) => query.where(column, '<', end!))
      .limit(1);
  const highest = (after: string, last?: string) => rest(after, last).orderBy(column, 'desc');
  const readSlice = async (after: string): Promise<readonly Slice[]> => {
    const row =
      (await rest(after)
        .orderBy(column)
        .offset(nextSize() - 1)
        .executeTakeFirst()) ?? (await highest(after).executeTakeFirst());
    return row === undefined ? [] : [{ after, last: row[column] }];
  };
  const readSliceBelow = async (from: string | null): Promise<readonly Slice[]> => {
    const last = from ?? (await highest(begin).executeTakeFirst())?.[column];
    if (last === undefined || last <= begin) return [];
    const below = await highest(begin, last).offset(nextSize()).executeTakeFirst();
    return [{ after: below?.[column] ?? begin, last }];
  };
  const readsAhead = typeof size === 'number';
  const cut = newestFirst
    ? pagesAfter<Slice, string | null>(upTo, readSliceBelow, ({ after }) => after, { readsAhead })
    : pagesAfter(begin, readSlice, ({ last }) => last, { readsAhead });
  for await (const [slice] of cut) if (slice !== undefined) yield slice;
}

/** What a look back found. */
export type LookBack<Row> = {
  readonly found: readonly Row[];
  /** The highest id that was not looked at, for the next look; null: none is left. */
  readonly next: string | null;
};

/** Rows of the slices of a look. The first is small: most looks want what is newest. */
const SLICE = { first: 100, most: 5_000, growth: 5 } as const;
/** A slice that takes longer is followed by a smaller one: a busy disk must not make a look take twice its time. */
const SLOW_MS = 40;

/**
 * Looks through a table from the newest id down, until enough was found or the time is over. It takes a slice longer than that.
 * @param range where to look: after `begin`, before `end`, and from `upTo` on down (the `next` of the look before)
 * @param read reads what is wanted of a slice, the newest first
 * @param limits most: rows to return. forMs: how long to look, in milliseconds
 */
export async function lookBack<Row extends { readonly id: string }>(
  db: Db,
  table: SlicedTable,
  range: { readonly begin: string; readonly end: string | null; readonly upTo: string | null },
  read: (slice: Slice) => Promise<readonly Row[]>,
  { most, forMs }: { readonly most: number; readonly forMs: number },
): Promise<LookBack<Row>> {
  const until = performance.now() + forMs;
  const found: Row[] = [];
  let size: number = SLICE.first;
  const slices = slicesOf(db, { table, column: 'id', size: () => size, newestFirst: true }, range);
  for await (const slice of slices) {
    const begun = performance.now();
    found.push(...(await read(slice)));
    const tookMs = performance.now() - begun;
    size =
      tookMs > SLOW_MS
        ? Math.max(SLICE.first, Math.floor((size * SLOW_MS) / tookMs))
        : Math.min(SLICE.most, size * SLICE.growth);
    const next = found[most];
    if (next !== undefined) return { found: found.slice(0, most), next: next.id };
    if (performance.now() >= until) return { found, next: slice.after === range.begin ? null : slice.after };
  }
  return { found, next: null };
}

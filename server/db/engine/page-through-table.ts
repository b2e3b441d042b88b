import { setImmediate } from 'node:timers/promises';

import type { Db } from '#server/db/engine/connect.ts';

/**
 * Reads one page ahead; without that, an export took 1.4 times as long.
 * @param begin the key before the first page
 * @param options readsAhead: false if the next page depends on the caller's work
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
      reading.catch(() => {});
      await setImmediate();
      yield page;
      if (!readsAhead) reading = readAfter(keyOf(last));
    }
  } finally {
    await reading.catch(() => {});
  }
}

export const SLICE_SIZE = 5_000;

/** `after` is exclusive, `last` inclusive. */
export type Slice = { readonly after: string; readonly last: string };

type SlicedTable = 'codes' | 'leads' | 'submissions' | 'imported_leads';

/**
 * @param column newestFirst: from the highest key down. size: rows per slice, or a function returning it
 * @param range begin and end are exclusive; upTo, the highest key for newestFirst, is inclusive
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
  // One bound per side: SQLite seeks by the first of two, but scans up to the second.
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

export type LookBack<Row> = {
  readonly found: readonly Row[];
  readonly next: string | null;
};

const SLICE = { first: 100, most: 5_000, growth: 5 } as const;
/** A busy disk must not double the time limit. */
const SLOW_MS = 40;

/**
 * Reads from the newest ID down until enough rows are found or time is up, plus one slice.
 * @param range after `begin`, before `end`, from `upTo` down (the previous `next`)
 * @param read reads the wanted rows of a slice, newest first
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

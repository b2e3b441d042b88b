// Reads a long table a page at a time: no statement lasts, a million rows need no more memory than a thousand, and others have their
// turn between two pages.
import { setImmediate } from 'node:timers/promises';

import type { Db } from '#server/db/engine/connect.ts';

/**
 * Reads pages until one is empty.
 * @param begin the key after which the first page begins
 * @param readAfter reads the rows that follow a key, in its order, up to a limit
 * @param keyOf the key of a row, by which the pages are ordered
 */
export async function* pagesAfter<Row, Key>(
  begin: Key,
  readAfter: (after: Key) => Promise<readonly Row[]>,
  keyOf: (row: Row) => Key,
): AsyncGenerator<readonly Row[], void, void> {
  for (let after = begin; ;) {
    const page = await readAfter(after);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = keyOf(last);
    await setImmediate();
  }
}

/** What comes after one key, up to and including another. */
export type Slice = { readonly after: string; readonly last: string };

/**
 * Cuts an indexed column into slices of `size` rows, for statements that want few of them or count them.
 * @param column newestFirst: from the highest key down
 * @param range begin: the key after which the first slice begins; end: the key before which the last one ends, null: none
 */
export async function* slicesOf(
  db: Db,
  {
    table,
    column,
    size,
    newestFirst = false,
  }: {
    table: 'codes' | 'leads' | 'submissions' | 'imported_leads';
    column: 'id' | 'email';
    size: number;
    newestFirst?: boolean;
  },
  { begin, end }: { readonly begin: string; readonly end: string | null },
): AsyncGenerator<Slice, void, void> {
  const rest = (after: string) =>
    db
      .selectFrom(table)
      .select(column)
      .where(column, '>', after)
      .$if(end !== null, (query) => query.where(column, '<', end!))
      .limit(1);
  const highest = (after: string) => rest(after).orderBy(column, 'desc');
  const readSlice = async (after: string): Promise<readonly Slice[]> => {
    const row =
      (await rest(after)
        .orderBy(column)
        .offset(size - 1)
        .executeTakeFirst()) ?? (await highest(after).executeTakeFirst());
    return row === undefined ? [] : [{ after, last: row[column] }];
  };
  const readSliceBelow = async (upTo: string | null): Promise<readonly Slice[]> => {
    const last = upTo ?? (await highest(begin).executeTakeFirst())?.[column];
    if (last === undefined || last === begin) return [];
    const below = await highest(begin).where(column, '<=', last).offset(size).executeTakeFirst();
    return [{ after: below?.[column] ?? begin, last }];
  };
  const slices = newestFirst
    ? pagesAfter<Slice, string | null>(null, readSliceBelow, ({ after }) => after)
    : pagesAfter(begin, readSlice, ({ last }) => last);
  for await (const [slice] of slices) if (slice !== undefined) yield slice;
}

// The record of who did what with the data: in the desk in a browser, and by commands.
import { sql, type Selectable } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { pagesAfter } from '#server/db/engine/page-through-table.ts';
import { columnsOf } from '#server/db/personal-columns.ts';
import type { Schema } from '#server/db/schema.ts';
import { lockAddress } from '#server/db/tables/challenges.ts';

export type DeskLogRow = Selectable<Schema['desk_log']>;

/** Adds a line. The address that it is about is left out when nothing is held about it any more: it may have been erased meanwhile. */
export async function addToDeskLog(
  { db, engine }: Pick<OpenDatabase, 'db' | 'engine'>,
  row: DeskLogRow,
): Promise<void> {
  const { about } = row;
  if (about === null) {
    await db.insertInto('desk_log').values(row).execute();
    return;
  }
  await db.transaction().execute(async (tx) => {
    // An erasure of this moment comes before the line, or takes the address out of it.
    await lockAddress(tx, engine, about);
    const isHeld = await holds(tx, about);
    await tx
      .insertInto('desk_log')
      .values({ ...row, about: isHeld ? about : null })
      .execute();
  });
}

async function holds(tx: Db, email: string): Promise<boolean> {
  const { rows } = await sql<{ held: number }>`
    select 1 as held where exists (select 1 from leads where email = ${email})
    or exists (select 1 from imported_leads where email = ${email})
    or exists (select 1 from submissions where email = ${email})
    or exists (select 1 from suppressions where email = ${email})
  `.execute(tx);
  return rows.length > 0;
}

type Page = { readonly order: 'newest' | 'oldest'; readonly after: string | null; readonly limit: number };

/**
 * A page of the record.
 * @param page order: of the lines; after: the id of the last line of the page before; limit: maximum number of lines
 */
export const deskLogPage = (db: Db, { order, after, limit }: Page): Promise<DeskLogRow[]> =>
  db
    .selectFrom('desk_log')
    .select(columnsOf('desk_log'))
    .$if(after !== null, (query) => query.where('id', order === 'newest' ? '<' : '>', after!))
    .orderBy('id', order === 'newest' ? 'desc' : 'asc')
    .limit(limit)
    .execute();

const PAGE_SIZE = 500;

/** Reads the record, a page at a time. */
export const deskLogPages = (
  db: Db,
  order: Page['order'],
): AsyncGenerator<readonly DeskLogRow[], void, void> =>
  pagesAfter<DeskLogRow, string | null>(
    null,
    (after) => deskLogPage(db, { order, after, limit: PAGE_SIZE }),
    ({ id }) => id,
  );

/** Whether the same was noted since then. */
export async function wasNotedSince(
  db: Db,
  { who, deed, about, since }: Pick<DeskLogRow, 'who' | 'deed'> & { about: string; since: number },
): Promise<boolean> {
  const row = await db
    .selectFrom('desk_log')
    .select('id')
    .where('about', '=', about)
    .where('who', '=', who)
    .where('deed', '=', deed)
    .where('at', '>', since)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

// The record of who did what with the data: in the desk in a browser, and by commands.
import { sql, type Selectable } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { columnsOf } from '#server/db/personal-columns.ts';
import type { Schema } from '#server/db/schema.ts';
import { lockAddress } from '#server/db/tables/challenges.ts';

export type DeskLogRow = Selectable<Schema['desk_log']>;

/** Adds a line. The address that it is about is left out when nothing is held about it any more: it may have been erased meanwhile. */
export async function addToDeskLog({ db, engine }: Pick<OpenDatabase, 'db' | 'engine'>, row: DeskLogRow): Promise<void> {
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

/**
 * A page of the record.
 * @param page order: of the lines; after: the id of the last line of the page before; limit: maximum number of lines
 */
export const deskLogPage = (
  db: Db,
  { order, after, limit }: { order: 'newest' | 'oldest'; after: string | null; limit: number },
): Promise<DeskLogRow[]> =>
  db
    .selectFrom('desk_log')
    .select(columnsOf('desk_log'))
    .$if(after !== null, (query) => query.where('id', order === 'newest' ? '<' : '>', after ?? ''))
    .orderBy('id', order === 'newest' ? 'desc' : 'asc')
    .limit(limit)
    .execute();

import type { Selectable } from 'kysely';

import { idsOfContacts } from '#server/db/contacts/people.ts';
import { acquireLocks, type Db } from '#server/db/engine/connect.ts';
import { lowestIdAt } from '#server/db/engine/ids.ts';
import { pagesAfter } from '#server/db/engine/page-through-table.ts';
import { hasRow } from '#server/db/engine/row-counts.ts';
import { columnsOf, type Schema } from '#server/db/all-tables.ts';

export type DeskLogRow = Selectable<Schema['desk_log']>;

/** Name that replaces an erased e-mail address, so the lines about one person still belong together. */
export const erasedName = (pseudonym: string): string => `erased ${pseudonym}`;

/**
 * Adds a line, with the pseudonym if the e-mail address was erased meanwhile.
 * @param pseudonym null for nobody, or for a desk user, whose name an erasure keeps
 */
export async function addToDeskLog(tx: Db, row: DeskLogRow, pseudonym: string | null): Promise<void> {
  let { about } = row;
  if (about !== null && pseudonym !== null) {
    // A concurrent erasure has either ended, or waits for this lock and then replaces the e-mail address in this line.
    await acquireLocks(tx, about);
    if (!(await isStored(tx, about))) about = erasedName(pseudonym);
  }
  await tx
    .insertInto('desk_log')
    .values({ ...row, about })
    .execute();
}

const isStored = async (tx: Db, email: string): Promise<boolean> =>
  (await idsOfContacts(tx, [email])).has(email) ||
  hasRow(tx.selectFrom('suppressions').select('email').where('email', '=', email));

type Page = { readonly order: 'newest' | 'oldest'; readonly after: string | null; readonly limit: number };

export const deskLogPage = (db: Db, { order, after, limit }: Page): Promise<DeskLogRow[]> =>
  db
    .selectFrom('desk_log')
    .select(columnsOf('desk_log'))
    .$if(after !== null, (query) => query.where('id', order === 'newest' ? '<' : '>', after!))
    .orderBy('id', order === 'newest' ? 'desc' : 'asc')
    .limit(limit)
    .execute();

const PAGE_SIZE = 500;

export const deskLogPages = (
  db: Db,
  order: Page['order'],
): AsyncGenerator<readonly DeskLogRow[], void, void> =>
  pagesAfter<DeskLogRow, string | null>(
    null,
    (after) => deskLogPage(db, { order, after, limit: PAGE_SIZE }),
    ({ id }) => id,
  );

export async function wasLoggedSince(
  db: Db,
  {
    who,
    action,
    about,
    details,
    since,
  }: Omit<DeskLogRow, 'id' | 'at' | 'client_address'> & { since: number },
): Promise<boolean> {
  return hasRow(
    db
      .selectFrom('desk_log')
      .select('id')
      .where('id', '>', lowestIdAt(since))
      .where('who', '=', who)
      .where('action', '=', action)
      .where('about', about === null ? 'is' : '=', about)
      .where('details', '=', details)
      .where('at', '>', since),
  );
}

export const wasAnyoneErasedSince = (db: Db, since: number): Promise<boolean> =>
  hasRow(
    db.selectFrom('desk_log').select('id').where('id', '>', lowestIdAt(since)).where('action', '=', 'erased'),
  );

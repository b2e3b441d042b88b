import type { Db } from '#server/db/engine/connect.ts';

/** Search order: one function finds the ID that another returns. */
const TABLES_OF_PEOPLE = ['leads', 'imported_leads', 'submissions'] as const;

export async function addressOfPerson(db: Db, id: string): Promise<string | undefined> {
  for (const table of TABLES_OF_PEOPLE) {
    const row = await db.selectFrom(table).select('email').where('id', '=', id).executeTakeFirst();
    if (row !== undefined) return row.email;
  }
  return undefined;
}

/** The lead's, the imported person's or the first form's ID, by e-mail address. */
export async function idsOfPeople(db: Db, emails: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  for (const table of TABLES_OF_PEOPLE) {
    const left = emails.filter((email) => !ids.has(email));
    if (left.length === 0) break;
    const rows = await db
      .selectFrom(table)
      .select((eb) => ['email', eb.fn.min('id').as('id')])
      .where('email', 'in', left)
      .groupBy('email')
      .execute();
    for (const { email, id } of rows) ids.set(email, id);
  }
  return ids;
}

export type Holder = {
  /** Null for an imported or unverified person. */
  readonly leadId: string | null;
  readonly lastVerifiedAt: number | null;
};

/** @param email as stored @returns null if no data is held about it */
export async function findHolder(db: Db, email: string): Promise<Holder | null> {
  const lead = await db
    .selectFrom('leads')
    .select(['id', 'last_verified_at'])
    .where('email', '=', email)
    .executeTakeFirst();
  if (lead !== undefined) return { leadId: lead.id, lastVerifiedAt: lead.last_verified_at };
  for (const table of ['submissions', 'imported_leads'] as const) {
    const row = await db
      .selectFrom(table)
      .select('id')
      .where('email', '=', email)
      .limit(1)
      .executeTakeFirst();
    if (row !== undefined) return { leadId: null, lastVerifiedAt: null };
  }
  return null;
}

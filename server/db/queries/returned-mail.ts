// What a bounce or complaint is compared with: the mail, and the person at its address.
import type { Db } from '#server/db/engine/connect.ts';

/** A mail in our outbox; undefined when it was deleted, or never was ours. */
export const findMail = (
  db: Db,
  id: string,
): Promise<{ readonly recipient: string; readonly created_at: number } | undefined> =>
  db.selectFrom('outbox').select(['recipient', 'created_at']).where('id', '=', id).executeTakeFirst();

export type Holder = {
  /** Null for an imported person, and for one who never entered a code. */
  readonly leadId: string | null;
  /** When the address was proved last; null when it never was. */
  readonly lastVerifiedAt: number | null;
};

/** Who has an address. @param email as it is stored @returns null when nothing is held about it */
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

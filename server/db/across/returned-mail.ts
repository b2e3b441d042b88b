// What a report about a mail of ours is compared with: the mail, and whoever has the address.
import type { Db } from '#server/db/engine/connect.ts';

/** A mail that we sent, or were to send; undefined when it is gone, or never was ours. */
export const findMail = (
  db: Db,
  id: string,
): Promise<{ readonly recipient: string; readonly created_at: number } | undefined> =>
  db.selectFrom('outbox').select(['recipient', 'created_at']).where('id', '=', id).executeTakeFirst();

export type Holder = {
  /** Null for somebody who never entered a code, or was imported. */
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

import type { Db } from '#server/db/engine/connect.ts';

export const findMail = (
  db: Db,
  id: string,
): Promise<{ readonly recipient: string; readonly created_at: number } | undefined> =>
  db.selectFrom('outbox').select(['recipient', 'created_at']).where('id', '=', id).executeTakeFirst();

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

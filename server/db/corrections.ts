// What an operator changes about a lead, with what stood there before.
import type { Db, OpenDatabase } from '#server/db/connect.ts';

export type LeadNames = { readonly name: string; readonly company: string };

/**
 * Changes name or company of a lead, and notes it.
 * @param change email: as stored; id: of the note; now: milliseconds since 1970; onCorrected: called in the transaction
 * @returns what stands there before and after; null when there is no such lead. Nothing is noted when nothing changes
 */
export async function correctLead(
  { db }: Pick<OpenDatabase, 'db'>,
  {
    email,
    id,
    now,
    onCorrected,
    ...changes
  }: Partial<LeadNames> & {
    email: string;
    id: string;
    now: number;
    onCorrected?: (tx: Db, leadId: string) => Promise<void>;
  },
): Promise<{ readonly before: LeadNames; readonly after: LeadNames } | null> {
  return db.transaction().execute(async (tx) => {
    const lead = await tx
      .selectFrom('leads')
      .select(['id', 'name', 'company'])
      .where('email', '=', email)
      .executeTakeFirst();
    if (lead === undefined) return null;
    const before = { name: lead.name, company: lead.company };
    const after = { ...before, ...changes };
    if (after.name === before.name && after.company === before.company) return { before, after };
    await tx.updateTable('leads').set(after).where('id', '=', lead.id).execute();
    await tx
      .insertInto('corrections')
      .values({
        id,
        lead_id: lead.id,
        name_before: before.name,
        company_before: before.company,
        ...after,
        corrected_at: now,
      })
      .execute();
    await onCorrected?.(tx, lead.id);
    return { before, after };
  });
}

// Verified addresses, and the proof of consent for each.
import type { Db } from '#server/db/connect.ts';
import type { Submission } from '#server/db/submissions.ts';

/**
 * Merges a verified submission into the lead of its address, and appends the consent receipt.
 * @param proof sameBrowser: whether the code was entered in the browser that sent the form
 * @returns the lead's id: a new one, or the one this address already had
 */
export async function mergeLead(
  tx: Db,
  submission: Submission,
  {
    leadId,
    receiptId,
    verifiedFromAddress,
    sameBrowser,
    now,
  }: {
    leadId: string;
    receiptId: string;
    verifiedFromAddress: string;
    sameBrowser: boolean;
    now: number;
  },
): Promise<string> {
  const lead = await tx
    .insertInto('leads')
    .values({
      id: leadId,
      email: submission.email,
      name: submission.name,
      company: submission.company,
      first_verified_at: now,
      last_verified_at: now,
      attribution: submission.attribution,
      flags: submission.flags,
    })
    .onConflict((conflict) =>
      conflict.column('email').doUpdateSet({
        // A code entered in another browser than the form proves the address, not who filled in the form.
        ...(sameBrowser && { name: submission.name, company: submission.company }),
        last_verified_at: now,
      }),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  await tx
    .insertInto('consent_receipts')
    .values({
      id: receiptId,
      lead_id: lead.id,
      submission_id: submission.id,
      consent_version: submission.consent_version,
      given_at: submission.created_at,
      verified_at: now,
      client_address: submission.client_address,
      verified_from_address: verifiedFromAddress,
      user_agent: submission.user_agent,
      same_browser: sameBrowser ? 1 : 0,
    })
    .execute();
  return lead.id;
}

/** The id of the lead with a (normalised) address. */
export async function findLeadId(db: Db, email: string): Promise<string | undefined> {
  const row = await db.selectFrom('leads').select('id').where('email', '=', email).executeTakeFirst();
  return row?.id;
}

/** Whether there is such a lead: one that was erased has no access any more. */
export async function leadExists(db: Db, id: string): Promise<boolean> {
  const row = await db.selectFrom('leads').select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}

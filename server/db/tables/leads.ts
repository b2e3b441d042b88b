import type { Selectable } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import type { Schema } from '#server/db/schema.ts';
import { mergedAnswers, withImportedAnswers } from '#shared/own-fields.ts';

type NewLead = Selectable<Schema['leads']>;
type Submission = Selectable<Schema['submissions']>;

/**
 * Also appends the receipt.
 * @param proof sameBrowser: the code was entered in the form's browser; asked: IDs of custom questions; firstReadAt: for a new
 * lead, or null
 */
export async function mergeLead(
  tx: Db,
  submission: Submission,
  {
    leadId,
    receiptId,
    verifiedFromAddress,
    sameBrowser,
    asked,
    firstReadAt,
    now,
  }: {
    leadId: string;
    receiptId: string;
    verifiedFromAddress: string;
    sameBrowser: boolean;
    asked: readonly string[];
    firstReadAt: number | null;
    now: number;
  },
): Promise<Reader> {
  const asksMore = asked.length > 0 || submission.answers !== null;
  const { name, company } = submission;
  const named = {
    name,
    company,
    // If the campaign asks no questions, earlier answers stay.
    ...(asksMore && { answers: await allAnswers(tx, submission, asked) }),
  };
  const lead = await tx
    .insertInto('leads')
    .values({
      answers: null,
      ...named,
      id: leadId,
      email: submission.email,
      first_verified_at: now,
      last_verified_at: now,
      attribution: submission.attribution,
      flags: submission.flags,
      variant: submission.variant,
      first_read_at: firstReadAt,
    })
    .onConflict((conflict) =>
      // A code entered in another browser proves the address, but not who filled in the form.
      conflict.column('email').doUpdateSet({ ...(sameBrowser && named), last_verified_at: now }),
    )
    .returning(['id', 'first_read_at'])
    .executeTakeFirstOrThrow();
  await tx
    .insertInto('consent_receipts')
    .values({
      id: receiptId,
      lead_id: lead.id,
      submission_id: submission.id,
      consent_version: submission.consent_version,
      given_at: submission.given_at,
      verified_at: now,
      client_address: submission.client_address,
      verified_from_address: verifiedFromAddress,
      user_agent: submission.user_agent,
      same_browser: sameBrowser ? 1 : 0,
    })
    .execute();
  return lead;
}

async function allAnswers(
  db: Db,
  { email, answers }: Pick<Submission, 'email' | 'answers'>,
  asked: readonly string[],
): Promise<string | null> {
  const answersIn = (table: 'leads' | 'imported_leads') =>
    db.selectFrom(table).select('answers').where('email', '=', email).executeTakeFirst();
  const lead = await answersIn('leads');
  return lead === undefined
    ? withImportedAnswers((await answersIn('imported_leads'))?.answers ?? null, answers)
    : mergedAnswers(lead.answers, answers, asked);
}

/** @param email normalised */
export async function findLeadId(db: Db, email: string): Promise<string | undefined> {
  const row = await db.selectFrom('leads').select('id').where('email', '=', email).executeTakeFirst();
  return row?.id;
}

export async function leadExists(db: Db, id: string): Promise<boolean> {
  const row = await db.selectFrom('leads').select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}

/** Milliseconds since 1970; null if not yet */
export type Reader = Pick<NewLead, 'id' | 'first_read_at'>;

export async function findReader(db: Db, id: string): Promise<Reader | undefined> {
  return db.selectFrom('leads').select(['id', 'first_read_at']).where('id', '=', id).executeTakeFirst();
}

/**
 * @param lead now: milliseconds since 1970
 * @returns whether it was the first time
 */
export async function noteRead(tx: Db, { id, now }: { id: string; now: number }): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('leads')
    .set({ first_read_at: now })
    .where('id', '=', id)
    .where('first_read_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

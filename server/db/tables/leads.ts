import { isDeepStrictEqual } from 'node:util';

import type { Selectable } from 'kysely';

import type { ConsentPurpose, Schema } from '#server/db/all-tables.ts';
import { agreedToNews } from '#server/db/contacts/people.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { lowestIdAt, newIdAt } from '#server/db/engine/ids.ts';
import { hasChanged, hasRow } from '#server/db/engine/row-counts.ts';
import type { Span } from '#server/db/queries/report-figures.ts';
import { answersOf, type LeadAnswers } from '#shared/lead.ts';
import { mergedAnswers } from '#shared/own-fields.ts';

type Submission = Selectable<Schema['submissions']>;
type Lead = Selectable<Schema['leads']>;

/**
 * Also adds a receipt for each consent.
 * @param proof sameBrowser: the code was entered in the browser that sent the form; askedFieldIds: of the campaign's
 * questions; firstReadAt: used only for a new lead
 */
export async function mergeLead(
  tx: Db,
  submission: Submission,
  proof: {
    newLeadId: string;
    verifiedFromAddress: string;
    sameBrowser: boolean;
    askedFieldIds: readonly string[];
    firstReadAt: number | null;
    now: number;
  },
): Promise<Reader> {
  const { newLeadId, verifiedFromAddress, sameBrowser, askedFieldIds, firstReadAt, now } = proof;
  const hasQuestions = askedFieldIds.length > 0 || submission.answers !== null;
  const { name, company } = submission;
  const typed = {
    name,
    company,
    // If the campaign has no questions, earlier answers are kept.
    ...(hasQuestions && { answers: await answersToStore(tx, submission, askedFieldIds) }),
  };
  const lead = await tx
    .insertInto('leads')
    .values({
      // If the campaign has no questions, imported answers are kept.
      answers: tx.selectFrom('imported_leads').select('answers').where('email', '=', submission.email),
      ...typed,
      id: newLeadId,
      email: submission.email,
      first_verified_at: now,
      last_verified_at: now,
      attribution: submission.attribution,
      flags: submission.flags,
      variant: submission.variant,
      first_read_at: firstReadAt,
    })
    .onConflict((conflict) =>
      // A code entered in another browser proves the e-mail address, but not who filled in the form.
      conflict.column('email').doUpdateSet({ ...(sameBrowser && typed), last_verified_at: now }),
    )
    .returning(['id', 'first_read_at'])
    .executeTakeFirstOrThrow();
  const addReceipt = (purpose: ConsentPurpose, version: string) =>
    tx
      .insertInto('consent_receipts')
      .values({
        id: newIdAt(now),
        lead_id: lead.id,
        submission_id: submission.id,
        purpose,
        consent_version: version,
        given_at: submission.given_at,
        verified_at: now,
        client_address: submission.client_address,
        verified_from_address: verifiedFromAddress,
        user_agent: submission.user_agent,
        same_browser: sameBrowser ? 1 : 0,
      })
      .execute();
  await addReceipt('guide', submission.consent_version);
  if (submission.news_consent_version !== null) await addReceipt('news', submission.news_consent_version);
  return lead;
}

async function answersToStore(
  db: Db,
  { email, answers }: Pick<Submission, 'email' | 'answers'>,
  askedFieldIds: readonly string[],
): Promise<string | null> {
  const answersIn = (table: 'leads' | 'imported_leads') =>
    db.selectFrom(table).select('answers').where('email', '=', email).executeTakeFirst();
  const lead = await answersIn('leads');
  if (lead !== undefined) return mergedAnswers(lead.answers, answers, askedFieldIds);
  // An import fills the questions that a new lead left empty.
  return mergedAnswers((await answersIn('imported_leads'))?.answers ?? null, answers, []);
}

export async function findLead(
  db: Db,
  email: string,
): Promise<Pick<Lead, 'id' | 'last_verified_at'> | undefined> {
  return db
    .selectFrom('leads')
    .select(['id', 'last_verified_at'])
    .where('email', '=', email)
    .executeTakeFirst();
}

export const findLeadId = async (db: Db, email: string): Promise<string | undefined> =>
  (await findLead(db, email))?.id;

export async function leadExists(db: Db, id: string): Promise<boolean> {
  return hasRow(db.selectFrom('leads').select('id').where('id', '=', id));
}

export type Reader = Pick<Lead, 'id' | 'first_read_at'>;

export async function findReader(db: Db, id: string): Promise<Reader | undefined> {
  return db.selectFrom('leads').select(['id', 'first_read_at']).where('id', '=', id).executeTakeFirst();
}

export async function recordFirstRead(tx: Db, { id, now }: { id: string; now: number }): Promise<boolean> {
  return hasChanged(
    tx
      .updateTable('leads')
      .set({ first_read_at: now })
      .where('id', '=', id)
      .where('first_read_at', 'is', null),
  );
}

const NEW_LEAD_COLUMNS = [
  'name',
  'company',
  'answers',
  'email',
  'attribution',
  'flags',
  'first_verified_at',
] as const;

/** news: 1 or 0 */
export type NewLead = Pick<Lead, (typeof NEW_LEAD_COLUMNS)[number]> & { readonly news: number };

const selectNewLeads = (db: Db) =>
  db.selectFrom('leads').select([...NEW_LEAD_COLUMNS, agreedToNews.as('news')]);

export const findNewLead = (db: Db, id: string): Promise<NewLead | undefined> =>
  selectNewLeads(db).where('id', '=', id).executeTakeFirst();

/** A lead's ID contains the time of the first verification. */
export const newLeadsOf = (db: Db, { from, to }: Span, limit: number): Promise<NewLead[]> =>
  selectNewLeads(db)
    .where('id', '>=', lowestIdAt(from))
    .where('id', '<', lowestIdAt(to))
    .orderBy('id')
    .limit(limit)
    .execute();

/**
 * Corrects answers and records the change, unless it is empty. The caller must have locked the e-mail address.
 * @param change changes: computed from the current answers; onCorrected: called for a lead
 * @returns null for an unknown person
 */
export async function correctLead(
  tx: Db,
  change: {
    email: string;
    id: string;
    now: number;
    changes: (before: LeadAnswers) => Partial<LeadAnswers>;
    onCorrected?: (leadId: string) => Promise<void>;
  },
): Promise<{ readonly before: LeadAnswers; readonly after: LeadAnswers } | null> {
  const { email, id, now, changes, onCorrected } = change;
  const lead = await tx.selectFrom('leads').selectAll().where('email', '=', email).executeTakeFirst();
  const imported =
    lead === undefined
      ? await tx.selectFrom('imported_leads').selectAll().where('email', '=', email).executeTakeFirst()
      : undefined;
  const found = lead ?? imported;
  if (found === undefined) return null;
  const before = answersOf(found);
  const after = { ...before, ...changes(before) };
  if (isDeepStrictEqual(after, before)) return { before, after };
  const correction = {
    id,
    name_before: before.name,
    company_before: before.company,
    answers_before: before.answers,
    ...after,
    corrected_at: now,
  };
  if (lead !== undefined) {
    await tx.updateTable('leads').set(after).where('id', '=', lead.id).execute();
    await tx
      .insertInto('corrections')
      .values({ ...correction, lead_id: lead.id })
      .execute();
    await onCorrected?.(lead.id);
  } else {
    await tx.updateTable('imported_leads').set(after).where('id', '=', found.id).execute();
    await tx
      .insertInto('imported_corrections')
      .values({ ...correction, imported_id: found.id })
      .execute();
  }
  return { before, after };
}

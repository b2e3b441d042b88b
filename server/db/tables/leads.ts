// Verified addresses, and the proof of consent for each.
import type { Selectable } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import type { Schema } from '#server/db/schema.ts';
import { command, statement, valuesOf, type Value } from '#server/db/engine/statement.ts';
import type { Submission } from '#server/db/tables/submissions.ts';
import { answersOf } from '#shared/lead.ts';
import { mergedAnswers, withImportedAnswers } from '#shared/own-answers.ts';

type NewLead = Selectable<Schema['leads']>;
type Receipt = Selectable<Schema['consent_receipts']>;

type NewAnswers = {
  readonly name: string;
  readonly company: string;
  readonly answers?: string | null;
};

const merge = (db: Db, value: Value<NewLead>, answers?: NewAnswers) =>
  db
    .insertInto('leads')
    .values(
      valuesOf(value, [
        'id',
        'email',
        'name',
        'company',
        'answers',
        'first_verified_at',
        'last_verified_at',
        'attribution',
        'flags',
        'variant',
        'first_read_at',
      ]),
    )
    .onConflict((conflict) =>
      conflict.column('email').doUpdateSet({ ...answers, last_verified_at: value('last_verified_at') }),
    )
    .returning(['id', 'first_read_at']);

const mergeWithAnswers = statement((db, value: Value<NewLead>) =>
  merge(db, value, valuesOf(value, ['name', 'company', 'answers'])),
);
/** Where the campaign asks nothing more, what was answered before stays, and nothing has to be looked up. */
const mergeWithNames = statement((db, value: Value<NewLead>) =>
  merge(db, value, valuesOf(value, ['name', 'company'])),
);
/** A code entered in another browser proves the address, but not that its owner filled in the form. */
const mergeWithoutAnswers = statement((db, value: Value<NewLead>) => merge(db, value));

const insertReceipt = command((db, value: Value<Receipt>) =>
  db
    .insertInto('consent_receipts')
    .values(
      valuesOf(value, [
        'id',
        'lead_id',
        'submission_id',
        'consent_version',
        'given_at',
        'verified_at',
        'client_address',
        'verified_from_address',
        'user_agent',
        'same_browser',
      ]),
    ),
);

/**
 * Merges a verified submission into the lead of its address, and appends the consent receipt.
 * @param proof sameBrowser: whether the code was entered in the browser that sent the form; asked: the ids of the campaign's own questions;
 * firstReadAt: when a new lead is given the article, null for not yet; a lead that is there already keeps its own
 * @returns the lead: a new one, or the one this address already had
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
  const mergeNamed = asksMore ? mergeWithAnswers : mergeWithNames;
  const { rows } = await (sameBrowser ? mergeNamed : mergeWithoutAnswers)(tx, {
    id: leadId,
    email: submission.email,
    ...answersOf(submission),
    answers: asksMore ? await allAnswers(tx, submission, asked) : null,
    first_verified_at: now,
    last_verified_at: now,
    attribution: submission.attribution,
    flags: submission.flags,
    variant: submission.variant,
    first_read_at: firstReadAt,
  });
  const [lead] = rows;
  if (lead === undefined) throw new Error('A lead that was merged is not there.');
  await insertReceipt(tx, {
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
  });
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

/** The id of the lead with a (normalised) address. */
export async function findLeadId(db: Db, email: string): Promise<string | undefined> {
  const row = await db.selectFrom('leads').select('id').where('email', '=', email).executeTakeFirst();
  return row?.id;
}

const withId = statement((db, value: Value<{ readonly id: string }>) =>
  db.selectFrom('leads').select('id').where('id', '=', value('id')),
);

/** Whether the lead still exists: an erased lead has no access. */
export async function leadExists(db: Db, id: string): Promise<boolean> {
  const { rows } = await withId(db, { id });
  return rows.length > 0;
}

/** A lead, and when it was first given the article: milliseconds since 1970, null for not yet. */
export type Reader = Pick<NewLead, 'id' | 'first_read_at'>;

const readerWith = statement((db, value: Value<{ readonly id: string }>) =>
  db.selectFrom('leads').select(['id', 'first_read_at']).where('id', '=', value('id')),
);

/** Finds a lead that wants to read; undefined when it was erased. */
export async function findReader(db: Db, id: string): Promise<Reader | undefined> {
  const { rows } = await readerWith(db, { id });
  return rows[0];
}

const read = statement((db, value: Value<{ readonly id: string; readonly now: number }>) =>
  db
    .updateTable('leads')
    .set({ first_read_at: value('now') })
    .where('id', '=', value('id'))
    .where('first_read_at', 'is', null)
    .returning('id'),
);

/**
 * Records that a lead was given the article.
 * @param lead now: milliseconds since 1970
 * @returns whether it was the first time
 */
export async function noteRead(tx: Db, lead: { id: string; now: number }): Promise<boolean> {
  const { rows } = await read(tx, lead);
  return rows.length > 0;
}

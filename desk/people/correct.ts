import { randomUUIDv7 } from 'node:crypto';

import { CommandFailure } from '#desk/command-failure.ts';
import { noDataStored } from '#desk/people/held-data.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { findContact } from '#server/db/contacts/people.ts';
import { correctLead } from '#server/db/tables/leads.ts';
import type { Service } from '#server/startup/service.ts';
import type { OwnField, OwnForm } from '#shared/campaign-schema.ts';
import { errorIn, LeadForm, type LeadAnswers } from '#shared/lead.ts';
import {
  answerSchema,
  storedAnswers,
  type OwnAnswer,
  type OwnAnswers,
  readAnswers,
  splitChoices,
} from '#shared/own-fields.ts';

/** In characters, as in form.yaml. */
const MAX_ANSWER_LENGTH = 2000;

/** In `text`, choices are separated by ";". An empty text deletes the answer. */
export type AnswerChange = { readonly id: string; readonly text: string };

/**
 * Corrects answers. The timeline keeps the previous ones.
 * @param tx must have locked the e-mail address
 */
export async function correctAnswers(
  tx: Db,
  { campaign, clock, webhooks }: Pick<Service, 'campaign' | 'clock' | 'webhooks'>,
  {
    email,
    answers,
    ...names
  }: {
    readonly email: string;
    readonly name?: string | undefined;
    readonly company?: string | undefined;
    readonly answers: readonly AnswerChange[];
  },
): Promise<{ readonly before: LeadAnswers; readonly after: LeadAnswers }> {
  const checked: { name?: string; company?: string } = {};
  for (const field of ['name', 'company'] as const) {
    const text = names[field];
    if (text === undefined) continue;
    const result = LeadForm.shape[field].safeParse(text);
    if (!result.success) {
      const { message } = result.error.issues[0]!;
      throw new CommandFailure(errorIn(campaign.interface.validation, message) ?? message, 2);
    }
    checked[field] = result.data;
  }
  const now = clock();
  const result = await correctLead(tx, {
    email,
    id: randomUUIDv7(),
    now,
    changes: (before) => ({
      ...checked,
      answers: changedAnswers(before.answers, answers, campaign.form),
    }),
    onCorrected: (leadId) => webhooks.queue(tx, { type: 'lead.updated', leadId, now }),
  });
  if (result === null) {
    if ((await findContact(tx, email)) === undefined) throw noDataStored(email);
    throw new CommandFailure(
      `${email} has not entered a code, so there is no lead to correct. The next form from this person will replace the current answers.`,
    );
  }
  return result;
}

function changedAnswers(
  before: string | null,
  changes: readonly AnswerChange[],
  form: OwnForm,
): string | null {
  if (changes.length === 0) return before;
  const stored = readAnswers(before);
  const after: Record<string, OwnAnswer> = { ...stored };
  for (const [id, changed] of changes.map((change) => readAnswer(change, form, stored))) {
    if (changed.answer.length === 0) delete after[id];
    else after[id] = changed;
  }
  return storedAnswers(after);
}

function readAnswer(
  { id, text: typed }: AnswerChange,
  { fields, messages }: OwnForm,
  stored: OwnAnswers,
): readonly [id: string, OwnAnswer] {
  const text = typed.trim();
  const field = fields.find((one) => one.id === id) ?? formerField(id, stored);
  if (field === undefined) {
    const ids = [...new Set([...fields.map((one) => one.id), ...Object.keys(stored)])];
    throw new CommandFailure(
      ids.length === 0
        ? 'This campaign has no custom questions (form.yaml).'
        : `Use --answer id=text with one of these IDs: ${ids.join(', ')}.`,
      2,
    );
  }
  // A stored choice stays valid after the form drops it.
  const current = [stored[id]?.answer ?? []].flat();
  const offered = field.options && { options: [...field.options, ...current] };
  const result = answerSchema({ ...field, ...offered, required: false }, messages).safeParse(
    field.kind === 'choices' ? splitChoices(text) : text,
  );
  if (!result.success) throw new CommandFailure(`${field.label}: ${result.error.issues[0]!.message}`, 2);
  return [id, { label: field.label, answer: result.data }];
}

/** A question that the form no longer asks. */
function formerField(id: string, stored: OwnAnswers): OwnField | undefined {
  if (!Object.hasOwn(stored, id)) return undefined;
  const { label, answer } = stored[id]!;
  return typeof answer === 'string'
    ? { id, label, kind: 'long text', maxLength: MAX_ANSWER_LENGTH }
    : { id, label, kind: 'choices', options: [...answer] };
}

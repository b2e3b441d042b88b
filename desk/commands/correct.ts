// desk correct: changes the name, the company or another answer of a lead.
import { randomUUIDv7 } from 'node:crypto';

import type { Command } from '@commander-js/extra-typings';

import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import { nothingHeld, readAddress } from '#desk/commands/held-data.ts';
import { printable } from '#desk/printable.ts';
import { correctLead } from '#server/db/tables/corrections.ts';
import type { OwnField, OwnForm } from '#shared/campaign-schema.ts';
import { complaintIn, Lead, type LeadAnswers } from '#shared/lead.ts';
import {
  answersText,
  answerText,
  readAnswers,
  splitChoices,
  type OwnAnswer,
  type OwnAnswers,
} from '#shared/own-answers.ts';
import { answerSchema } from '#shared/own-fields.ts';

/** The longest answer that form.yaml can ask for, in characters. */
const LONGEST = 2000;

export function addCorrect(program: Command, desk: Desk): void {
  program
    .command('correct')
    .description('change the answers of a lead; the story keeps what stood there before')
    .argument('<email>')
    .option('--name <name>')
    .option('--company <company>')
    .option(
      '--answer <id=text>',
      'the answer to a question of form.yaml; empty takes it away; several choices with ; between them',
      (text: string, before: readonly string[] | undefined) => [...(before ?? []), text],
    )
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run -s desk -- correct ada@example.com --company "Analytical Engines"',
    )
    .action(async (typed, { answer: ownChanges = [], ...changes }) => {
      const email = readAddress(typed);
      const fields = Object.keys(changes) as (keyof typeof changes)[];
      if (fields.length === 0 && ownChanges.length === 0)
        throw new CommandFailure('Say what is to be changed: --name, --company or --answer.', 2);
      const { database, campaign, clock, webhooks } = await desk.service();
      const checked: { name?: string; company?: string } = {};
      for (const field of fields) {
        const text = changes[field];
        if (text === undefined) continue;
        const result = Lead.shape[field].safeParse(text);
        if (!result.success) {
          const { message } = result.error.issues[0]!;
          throw new CommandFailure(complaintIn(campaign.interface.validation, message) ?? message, 2);
        }
        checked[field] = result.data;
      }
      const now = clock();
      const result = await correctLead(database, {
        email,
        id: randomUUIDv7(),
        now,
        changes: (before) => ({
          ...checked,
          answers: changedAnswers(before.answers, ownChanges, campaign.form),
        }),
        onCorrected: (tx, leadId) => webhooks.queue(tx, { type: 'lead.updated', leadId, now }),
      });
      webhooks.wake();
      if (result === null) throw nothingHeld(email);
      const { before, after } = result;
      await desk.print(`${printable(`${email}: ${said(before)} → ${said(after)}`.replaceAll('\n', ' '))}\n`);
    });
}

/**
 * Reads a change such as `phone=+44 20 7946 0018`.
 * @param held the person's answers: one to a question that is no longer asked can be changed as well
 * @throws {CommandFailure} when there is no such question, or the answer does not fit
 */
function readAnswer(
  change: string,
  { fields, messages }: OwnForm,
  held: OwnAnswers,
): readonly [id: string, OwnAnswer] {
  const at = change.indexOf('=');
  const id = change.slice(0, Math.max(0, at)).trim();
  const text = change.slice(at + 1).trim();
  const field = fields.find((one) => one.id === id) ?? fieldOf(id, held);
  if (at < 0 || field === undefined) {
    const ids = [...new Set([...fields.map((one) => one.id), ...Object.keys(held)])];
    throw new CommandFailure(
      ids.length === 0
        ? 'This campaign has no questions of its own (form.yaml).'
        : `Write --answer id=text. The ids are ${ids.join(', ')}.`,
      2,
    );
  }
  const result = answerSchema({ ...field, required: false }, messages).safeParse(
    field.kind === 'choices' ? splitChoices(text) : text,
  );
  if (!result.success) throw new CommandFailure(`${field.label}: ${result.error.issues[0]!.message}`, 2);
  return [id, { label: field.label, answer: result.data }];
}

/** A question that was taken away, as far as its answer shows what it was: its kind is not known any more. */
function fieldOf(id: string, held: OwnAnswers): OwnField | undefined {
  if (!Object.hasOwn(held, id)) return undefined;
  const { label, answer } = held[id]!;
  return typeof answer === 'string'
    ? { id, label, kind: 'long text', maxLength: LONGEST }
    : { id, label, kind: 'choices', options: [...answer] };
}

/** @throws {CommandFailure} as readAnswer */
function changedAnswers(before: string | null, changes: readonly string[], form: OwnForm): string | null {
  if (changes.length === 0) return before;
  const held = readAnswers(before);
  const after: Record<string, OwnAnswer> = { ...held };
  for (const [id, changed] of changes.map((change) => readAnswer(change, form, held))) {
    if (changed.answer.length === 0) delete after[id];
    else after[id] = changed;
  }
  return answersText(after);
}

const said = ({ name, company, answers }: LeadAnswers): string =>
  [name, company, ...Object.values(readAnswers(answers)).map(({ answer }) => answerText(answer))]
    .filter(Boolean)
    .join(', ');

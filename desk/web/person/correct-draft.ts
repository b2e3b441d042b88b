import type { Me } from '#desk/endpoints/auth.ts';
import type { Person } from '#desk/endpoints/people.ts';
import { displayedAnswer } from '#shared/own-fields.ts';

export type CorrectDraft = {
  readonly name: string;
  readonly company: string;
  /** By question ID; choices are separated by "; ". */
  readonly answers: Readonly<Record<string, string>>;
};

export type Question = Me['fields'][number] & {
  readonly isAsked: boolean;
};

export const questionsFor = (
  { answers }: Pick<Person, 'answers'>,
  fields: Me['fields'],
): readonly Question[] => [
  ...fields.map((field) => ({ ...field, isAsked: true })),
  ...Object.entries(answers)
    .filter(([id]) => fields.every((field) => field.id !== id))
    .map(([id, { label }]) => ({ id, label, options: null, areSeveral: false, isAsked: false })),
];

export const draftOf = (
  { name, company, answers }: Pick<Person, 'name' | 'company' | 'answers'>,
  questions: readonly Question[],
): CorrectDraft => ({
  name,
  company,
  answers: Object.fromEntries(questions.map(({ id }) => [id, displayedAnswer(answers[id]?.answer)])),
});

export type Changes = {
  name?: string;
  company?: string;
  answers?: Record<string, string>;
};

/** Ignores surrounding spaces. Returns null if nothing changed. */
export function changesIn(before: CorrectDraft, after: CorrectDraft): Changes | null {
  const changes: Changes = {};
  for (const field of ['name', 'company'] as const)
    if (after[field].trim() !== before[field].trim()) changes[field] = after[field].trim();
  const answers = Object.entries(after.answers)
    .map(([id, text]) => [id, text.trim()] as const)
    .filter(([id, text]) => text !== (before.answers[id] ?? '').trim());
  if (answers.length > 0) changes.answers = Object.fromEntries(answers);
  return Object.keys(changes).length === 0 ? null : changes;
}

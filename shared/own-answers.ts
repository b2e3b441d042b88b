// Answers to custom questions, as stored and exported. Each keeps its label, which outlives the question.
import type { OwnField } from '#shared/campaign-schema.ts';
import type { TypedAnswers } from '#shared/lead.ts';

export type OwnAnswer = { readonly label: string; readonly answer: string | readonly string[] };
export type OwnAnswers = Readonly<Record<string, OwnAnswer>>;

export const labelledAnswers = (fields: readonly OwnField[], typed: TypedAnswers = {}): OwnAnswers =>
  Object.fromEntries(
    fields.flatMap(({ id, label }) => {
      const answer = typed[id] ?? '';
      return answer.length === 0 ? [] : [[id, { label, answer }]];
    }),
  );

export const answersText = (answers: OwnAnswers): string | null =>
  Object.keys(answers).length === 0 ? null : JSON.stringify(answers);

export const readAnswers = (text: string | null): OwnAnswers =>
  text === null ? {} : (JSON.parse(text) as OwnAnswers);

/**
 * Merges the stored answers of a lead who sends the form again. Answers to removed questions stay; questions left empty
 * this time lose their old answer. Takes two database columns and the IDs of the current questions.
 */
export function mergedAnswers(
  before: string | null,
  after: string | null,
  asked: readonly string[],
): string | null {
  const former = Object.entries(readAnswers(before)).filter(([id]) => !asked.includes(id));
  return answersText({ ...Object.fromEntries(former), ...readAnswers(after) });
}

/** Fills a new lead's empty answers with imported ones. Takes two database columns. */
export const withImportedAnswers = (imported: string | null, answers: string | null): string | null =>
  mergedAnswers(imported, answers, []);

export const answerText = (answer: OwnAnswer['answer'] | undefined, between = '; '): string =>
  typeof answer === 'string' ? answer : (answer ?? []).join(between);

export const splitChoices = (text: string): readonly string[] =>
  text
    .split(';')
    .map((choice) => choice.trim())
    .filter((choice) => choice !== '');

/** For people to read. A second answer with the same label has its ID appended. */
export function answersByLabel(text: string | null): Readonly<Record<string, string>> {
  const named: Record<string, string> = {};
  for (const [id, { label, answer }] of Object.entries(readAnswers(text)))
    named[label in named ? `${label} (${id})` : label] = answerText(answer);
  return named;
}

export const labelAndAnswer = (label: string, answer: string): string =>
  `${label}${/[?:!.]$/.test(label) ? '' : ':'} ${answer}`;

export const formerAnswers = (fields: readonly OwnField[], answers: OwnAnswers): string =>
  Object.entries(answers)
    .filter(([id]) => !fields.some((field) => field.id === id))
    .map(([, { label, answer }]) => labelAndAnswer(label, answerText(answer)))
    .join('; ');

const SAMPLES: Readonly<Record<OwnField['kind'], string>> = {
  text: 'Sample',
  telephone: '+44 20 7946 0018',
  number: '42',
  url: 'https://example.com',
  choice: '',
  choices: '',
  'long text': 'A first line.\nA second line.',
};

export const sampleAnswers = (fields: readonly OwnField[]): OwnAnswers =>
  labelledAnswers(
    fields,
    Object.fromEntries(
      fields.map(({ id, kind, options = [] }) => [
        id,
        kind === 'choices' ? options.slice(0, 2) : kind === 'choice' ? (options[0] ?? '') : SAMPLES[kind],
      ]),
    ),
  );

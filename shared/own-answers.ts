// Answers to the questions of campaign/form.yaml, as they are stored and handed on. Each is kept with the words it was asked in, so
// that it can be read when the question is no longer in the list.
import type { OwnField } from '#shared/campaign-schema.ts';
import type { TypedAnswers } from '#shared/lead.ts';

export type OwnAnswer = { readonly label: string; readonly answer: string | readonly string[] };
/** By the id of the field, in the order of the form. */
export type OwnAnswers = Readonly<Record<string, OwnAnswer>>;

/** Adds the labels to what was typed, and leaves out what was not answered. */
export const labelledAnswers = (fields: readonly OwnField[], typed: TypedAnswers = {}): OwnAnswers =>
  Object.fromEntries(
    fields.flatMap(({ id, label }) => {
      const answer = typed[id] ?? '';
      return answer.length === 0 ? [] : [[id, { label, answer }]];
    }),
  );

/** The text that a column holds; null for no answers. */
export const answersText = (answers: OwnAnswers): string | null =>
  Object.keys(answers).length === 0 ? null : JSON.stringify(answers);

/** Reads a column. */
export const readAnswers = (text: string | null): OwnAnswers =>
  text === null ? {} : (JSON.parse(text) as OwnAnswers);

/**
 * The answers of a lead that sent the form again. The newest form is what she says now: where it leaves a question empty, her older
 * answer goes. An answer to a question that is no longer asked stays.
 * @param before, after columns
 * @param asked the ids of the questions that are asked
 */
export function mergedAnswers(
  before: string | null,
  after: string | null,
  asked: readonly string[],
): string | null {
  const former = Object.entries(readAnswers(before)).filter(([id]) => !asked.includes(id));
  return answersText({ ...Object.fromEntries(former), ...readAnswers(after) });
}

/** The answers of a new lead, and to what it left empty those that an import brought. @param imported, answers columns */
export const withImportedAnswers = (imported: string | null, answers: string | null): string | null =>
  mergedAnswers(imported, answers, []);

/** An answer as one text. @param between several choices */
export const answerText = (answer: OwnAnswer['answer'] | undefined, between = '; '): string =>
  typeof answer === 'string' ? answer : (answer ?? []).join(between);

/** Several choices from the text of a file or a command. */
export const splitChoices = (text: string): readonly string[] =>
  text
    .split(';')
    .map((choice) => choice.trim())
    .filter((choice) => choice !== '');

/** Each answer under its label, for people to read; a second one with the same label has its id behind it. */
export function answersByLabel(text: string | null): Readonly<Record<string, string>> {
  const named: Record<string, string> = {};
  for (const [id, { label, answer }] of Object.entries(readAnswers(text)))
    named[label in named ? `${label} (${id})` : label] = answerText(answer);
  return named;
}

/** A label and its answer in one text. A question has its own mark. */
export const labelAndAnswer = (label: string, answer: string): string =>
  `${label}${/[?:!.]$/.test(label) ? '' : ':'} ${answer}`;

/** Answers to questions that are no longer in the list: "Label: answer; …" */
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

/** Invented answers to every question, for samples of mails and events. */
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

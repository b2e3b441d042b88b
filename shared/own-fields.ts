// One schema checks custom answers in the form, on the server and in the desk.
import * as z from 'zod/mini';

import type { FormMessages, OwnField, OwnForm } from '#shared/campaign-schema.ts';
import { LeadForm, type TypedAnswers } from '#shared/lead.ts';
import { asciiDigit } from '#shared/code-digits.ts';
import { longestAnswer } from '#shared/lengths-and-resend.ts';
import { orNull } from '#shared/or-null.ts';
import { halfWidth, isSingleLine, tidyText } from '#shared/typed-input.ts';
import { fill } from '#shared/words.ts';

declare const URL: new (url: string) => {
  readonly protocol: string;
  readonly hostname: string;
  readonly username: string;
};

const TELEPHONE = /^(?=(?:\D*\d){5})[+\d\s()./*#-]+(?:(?:ext\.?|x)\s*\d+)?$/i;
// 1,000 and 1.000 are refused, because the meaning of the separator depends on the country.
const NUMBER = /^[+-]?\d+(?:[.,]\d{1,2})?$/;

/** Converts digits of any script, full-width signs and dashes to ASCII, and removes invisible marks of copied numbers. */
const asciiNumber = (text: string): string =>
  halfWidth(text)
    .replace(/\p{Cf}/gu, '')
    .replace(/\p{Nd}/gu, asciiDigit)
    .replace(/[\p{Pd}\u2212]/gu, '-');

/** Slashes are required, because example.com:8080 is a host with a port. */
const SCHEME = /^[a-z][a-z\d+.-]*:\/\//i;

function isWebAddress(text: string): boolean {
  const url = /\s/.test(text) ? null : orNull(() => new URL(text));
  return (
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && /[^.]\.[^.]/.test(url.hostname)
  );
}

type TextKind = Exclude<OwnField['kind'], 'choice' | 'choices'>;

type TextRule = {
  readonly fits?: (text: string) => boolean;
  readonly messageKey?: keyof FormMessages;
  readonly tidy?: (text: string) => string;
};

const TEXT_RULES: Readonly<Record<TextKind, TextRule>> = {
  text: {},
  telephone: { fits: (text) => TELEPHONE.test(text), messageKey: 'telephone', tidy: asciiNumber },
  number: {
    fits: (text) => NUMBER.test(text),
    messageKey: 'number',
    tidy: (text) => asciiNumber(text).replace(/[,\u066B]/, '.'),
  },
  url: {
    fits: isWebAddress,
    messageKey: 'url',
    tidy: (text) => (SCHEME.test(text) ? text : `https://${text}`),
  },
  'long text': {
    fits: (text) => text.split('\n').every(isSingleLine),
    messageKey: 'notPlain',
    tidy: (text) => text.replaceAll(/\r\n?/g, '\n'),
  },
};

/** Allows for spaces that tidying removes. */
const TIDYING_MARGIN = 20;

export function answerSchema(
  field: OwnField,
  messages: FormMessages,
): z.ZodMiniType<string | readonly string[]> {
  const { kind, required = false, options = [] } = field;
  const notEmpty = z.minLength(required ? 1 : 0, { error: messages.required, abort: true });
  const areOffered = (chosen: readonly string[]) =>
    new Set(chosen).size === chosen.length && chosen.every((choice) => options.includes(choice));
  if (kind === 'choices')
    return z.prefault(
      z
        .array(z.string({ error: messages.choice }), { error: messages.choice })
        .check(notEmpty, z.refine(areOffered, { error: messages.choice })),
      [],
    );
  if (kind === 'choice')
    return z.prefault(
      z.string({ error: messages.required }).check(
        notEmpty,
        z.refine((text) => text === '' || areOffered([text]), { error: messages.choice }),
      ),
      '',
    );
  const maximum = longestAnswer(field);
  const tooLong = { error: fill(messages.tooLong, { maximum }), abort: true };
  const { fits = () => true, messageKey = 'required', tidy = (text) => text } = TEXT_RULES[kind];
  return z.prefault(
    z.string({ error: messages.required }).check(
      // Checked before the regular expressions, so that they never run on long text.
      z.maxLength(maximum + TIDYING_MARGIN, tooLong),
      z.overwrite(tidyText),
      z.overwrite((text) => (text === '' ? '' : tidy(text))),
      notEmpty,
      z.maxLength(maximum, tooLong),
      z.refine((text) => kind === 'long text' || isSingleLine(text), {
        error: messages.notPlain,
        abort: true,
      }),
      z.refine((text) => text === '' || fits(text), { error: messages[messageKey] }),
    ),
    '',
  );
}

/**
 * Returns the stored answers that the current questions still accept, for a resend.
 * @param text the database column
 */
export function stillAcceptedAnswers({ fields, messages }: OwnForm, text: string | null): TypedAnswers {
  const stored = readAnswers(text);
  return Object.fromEntries(
    fields.flatMap((field) => {
      const answer = stored[field.id]?.answer;
      return answer !== undefined && answerSchema(field, messages).safeParse(answer).success
        ? [[field.id, answer]]
        : [];
    }),
  );
}

export function leadSchema(
  { fields, messages }: OwnForm,
  newsConsentVersion?: z.ZodMiniType<string | undefined>,
): z.ZodMiniType<LeadForm> {
  const extended = newsConsentVersion === undefined ? LeadForm : z.extend(LeadForm, { newsConsentVersion });
  if (fields.length === 0) return extended;
  const answers = z.strictObject(
    Object.fromEntries(fields.map((field) => [field.id, answerSchema(field, messages)])),
  );
  return z.extend(extended, { answers: z.prefault(answers, {}) });
}

// Answers to custom questions, as stored and exported. Each answer keeps its label, because the question may be removed.
export type OwnAnswer = { readonly label: string; readonly answer: string | readonly string[] };
export type OwnAnswers = Readonly<Record<string, OwnAnswer>>;

export const labelledAnswers = (fields: readonly OwnField[], typed: TypedAnswers = {}): OwnAnswers =>
  Object.fromEntries(
    fields.flatMap(({ id, label }) => {
      const answer = typed[id] ?? '';
      return answer.length === 0 ? [] : [[id, { label, answer }]];
    }),
  );

export const storedAnswers = (answers: OwnAnswers): string | null =>
  Object.keys(answers).length === 0 ? null : JSON.stringify(answers);

export const readAnswers = (text: string | null): OwnAnswers =>
  text === null ? {} : (JSON.parse(text) as OwnAnswers);

/**
 * Merges the stored answers of a lead who sends the form again. Keeps answers to removed questions. Drops previous answers
 * to questions that are now left empty. Takes two database columns and the IDs of the current questions.
 */
export function mergedAnswers(
  before: string | null,
  after: string | null,
  asked: readonly string[],
): string | null {
  const former = Object.entries(readAnswers(before)).filter(([id]) => !asked.includes(id));
  return storedAnswers({ ...Object.fromEntries(former), ...readAnswers(after) });
}

export const displayedAnswer = (answer: OwnAnswer['answer'] | undefined, separator = '; '): string =>
  typeof answer === 'string' ? answer : (answer ?? []).join(separator);

export const splitChoices = (text: string): readonly string[] =>
  text
    .split(';')
    .map((choice) => choice.trim())
    .filter((choice) => choice !== '');

/** For display. If two questions have the same label, the ID is appended to the second. */
export function answersByLabel(text: string | null): Readonly<Record<string, string>> {
  const named = new Map<string, string>();
  for (const [id, { label, answer }] of Object.entries(readAnswers(text)))
    named.set(named.has(label) ? `${label} (${id})` : label, displayedAnswer(answer));
  return Object.fromEntries(named);
}

export const labelAndAnswer = (label: string, answer: string): string =>
  `${label}${/[?:!.]$/.test(label) ? '' : ':'} ${answer}`;

export const formerAnswersText = (fields: readonly OwnField[], answers: OwnAnswers): string =>
  Object.entries(answers)
    .filter(([id]) => !fields.some((field) => field.id === id))
    .map(([, { label, answer }]) => labelAndAnswer(label, displayedAnswer(answer)))
    .join('; ');

const SAMPLES: Readonly<Record<TextKind, string>> = {
  text: 'Sample',
  telephone: '+44 20 7946 0018',
  number: '42',
  url: 'https://example.com',
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

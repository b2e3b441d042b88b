// What a campaign asks besides name, company and address: the list of campaign/form.yaml. One schema, made from that list, checks an
// answer in the form, on the server and at the desk.
import * as z from 'zod/mini';

import type { FormMessages, OwnField, OwnForm } from '#shared/campaign-schema.ts';
import { Lead, type TypedAnswers } from '#shared/lead.ts';
import { longestAnswer } from '#shared/lengths-and-resend-seconds.ts';
import { readAnswers } from '#shared/own-answers.ts';
import { isSingleLine } from '#shared/single-line.ts';
import { fill } from '#shared/words.ts';

const FORMS_OF_TEXT = {
  telephone: /^(?=(?:\D*\d){5})[+\d\s()./*#-]+(?:(?:ext\.?|x)\s*\d+)?$/i,
  // Not 1,000 or 1.000: which of the two is a thousand depends on the country.
  number: /^[+-]?\d+(?:[.,]\d{1,2})?$/,
} as const;

/** Browsers and Node have it alike; the types here are of neither. */
declare const URL: {
  readonly parse: (url: string) => { readonly protocol: string; readonly hostname: string } | null;
};

const isWebAddress = (text: string): boolean => {
  const url = /\s/.test(text) ? null : URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && /[^.]\.[^.]/.test(url.hostname);
};

/** The text as it is kept: a number with a full stop, a web address with its beginning, a long text with lines that end with \n. */
function tidy(kind: OwnField['kind'], typed: string): string {
  const text = typed.trim();
  if (text === '') return '';
  if (kind === 'number') return text.replace(',', '.');
  if (kind === 'url') return /^[a-z][a-z\d+.-]*:/i.test(text) ? text : `https://${text}`;
  return kind === 'long text' ? text.replaceAll(/\r\n?/g, '\n') : text;
}

const fitsKind = (kind: OwnField['kind'], text: string): boolean =>
  kind === 'telephone' || kind === 'number'
    ? FORMS_OF_TEXT[kind].test(text)
    : kind !== 'url' || isWebAddress(text);

const complaintsOfKind = { telephone: 'telephone', number: 'number', url: 'url' } as const;

/**
 * The schema of one answer. An issue's message is a whole sentence.
 * @param messages the operator's sentences
 */
export function answerSchema(
  field: OwnField,
  messages: FormMessages,
): z.ZodMiniType<string | readonly string[]> {
  const { kind, required = false, options = [] } = field;
  const isGiven = z.minLength(required ? 1 : 0, { error: messages.required, abort: true });
  const areOffered = (chosen: readonly string[]) =>
    new Set(chosen).size === chosen.length && chosen.every((one) => options.includes(one));
  if (kind === 'choices')
    return z.prefault(
      z
        .array(z.string({ error: messages.choice }), { error: messages.choice })
        .check(isGiven, z.refine(areOffered, { error: messages.choice })),
      [],
    );
  const error = messages.required;
  if (kind === 'choice')
    return z.prefault(
      z.string({ error }).check(
        isGiven,
        z.refine((text) => text === '' || areOffered([text]), { error: messages.choice }),
      ),
      '',
    );
  const maximum = longestAnswer(field);
  return z.prefault(
    z.string({ error }).check(
      // Before any expression, so that none meets a long text; what is tidied away may not make it longer either.
      z.maxLength(maximum + 20, { error: fill(messages.tooLong, { maximum }), abort: true }),
      z.overwrite((text) => tidy(kind, text)),
      isGiven,
      z.maxLength(maximum, { error: fill(messages.tooLong, { maximum }), abort: true }),
      z.refine((text) => (kind === 'long text' ? text.split('\n') : [text]).every(isSingleLine), {
        error: messages.notPlain,
        abort: true,
      }),
      z.refine((text) => text === '' || fitsKind(kind, text), {
        error: kind in complaintsOfKind ? messages[complaintsOfKind[kind as 'url']] : messages.required,
      }),
    ),
    '',
  );
}

/**
 * The answers of a column that can be sent once more: to questions that are still asked, and as they are asked now.
 * @param text the column
 */
export function typedAnswers({ fields, messages }: OwnForm, text: string | null): TypedAnswers {
  const kept = readAnswers(text);
  return Object.fromEntries(
    fields.flatMap((field) => {
      const answer = kept[field.id]?.answer;
      return answer !== undefined && answerSchema(field, messages).safeParse(answer).success
        ? [[field.id, answer]]
        : [];
    }),
  );
}

/** The form with the answers of the list: what `POST /api/leads` takes in a campaign that has one. */
export function leadSchema({ fields, messages }: OwnForm): z.ZodMiniType<Lead> {
  if (fields.length === 0) return Lead;
  const answers = z.strictObject(
    Object.fromEntries(fields.map((field) => [field.id, answerSchema(field, messages)])),
  );
  return z.extend(Lead, { answers: z.prefault(answers, {}) });
}

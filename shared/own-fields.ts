// Custom questions of a campaign. One schema checks an answer in the form, on the server and in the desk.
import * as z from 'zod/mini';

import type { FormMessages, OwnField, OwnForm } from '#shared/campaign-schema.ts';
import { Lead, type TypedAnswers } from '#shared/lead.ts';
import { longestAnswer } from '#shared/lengths-and-resend-seconds.ts';
import { readAnswers } from '#shared/own-answers.ts';
import { isSingleLine, tidyLine } from '#shared/single-line.ts';
import { fill } from '#shared/words.ts';

declare const URL: new (url: string) => {
  readonly protocol: string;
  readonly hostname: string;
  readonly username: string;
};

const TELEPHONE = /^(?=(?:\D*\d){5})[+\d\s()./*#-]+(?:(?:ext\.?|x)\s*\d+)?$/i;
// Not 1,000 or 1.000: which of the two is a thousand depends on the country.
const NUMBER = /^[+-]?\d+(?:[.,]\d{1,2})?$/;

/** Requires slashes: example.com:8080 is a host and its port. */
const SCHEME = /^[a-z][a-z\d+.-]*:\/\//i;

function isWebAddress(text: string): boolean {
  if (/\s/.test(text)) return false;
  try {
    const { protocol, hostname, username } = new URL(text);
    // An e-mail address would parse as a user at a host.
    return /^https?:$/.test(protocol) && username === '' && /[^.]\.[^.]/.test(hostname);
  } catch {
    return false;
  }
}

type TextRule = {
  readonly fits?: (text: string) => boolean;
  readonly complaint?: keyof FormMessages;
  readonly tidy?: (text: string) => string;
};

const TEXT_RULES: Readonly<Record<Exclude<OwnField['kind'], 'choice' | 'choices'>, TextRule>> = {
  text: {},
  telephone: { fits: (text) => TELEPHONE.test(text), complaint: 'telephone' },
  number: {
    fits: (text) => NUMBER.test(text),
    complaint: 'number',
    tidy: (text) => text.replace(',', '.'),
  },
  url: {
    fits: isWebAddress,
    complaint: 'url',
    tidy: (text) => (SCHEME.test(text) ? text : `https://${text}`),
  },
  'long text': {
    fits: (text) => text.split('\n').every(isSingleLine),
    complaint: 'notPlain',
    tidy: (text) => text.replaceAll(/\r\n?/g, '\n'),
  },
};

const TIDIED_AWAY_MAX = 20;

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
  const tooLong = { error: fill(messages.tooLong, { maximum }), abort: true };
  const { fits = () => true, complaint = 'required', tidy = (text) => text } = TEXT_RULES[kind];
  return z.prefault(
    z.string({ error }).check(
      // Before the regular expressions, so that none runs on long text.
      z.maxLength(maximum + TIDIED_AWAY_MAX, tooLong),
      z.overwrite(tidyLine),
      z.overwrite((text) => (text === '' ? '' : tidy(text))),
      isGiven,
      z.maxLength(maximum, tooLong),
      z.refine((text) => kind === 'long text' || isSingleLine(text), {
        error: messages.notPlain,
        abort: true,
      }),
      z.refine((text) => text === '' || fits(text), { error: messages[complaint] }),
    ),
    '',
  );
}

/** Takes the database column. Returns the answers that the current questions still accept, for a resend. */
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

export function leadSchema({ fields, messages }: OwnForm): z.ZodMiniType<Lead> {
  if (fields.length === 0) return Lead;
  const answers = z.strictObject(
    Object.fromEntries(fields.map((field) => [field.id, answerSchema(field, messages)])),
  );
  return z.extend(Lead, { answers: z.prefault(answers, {}) });
}

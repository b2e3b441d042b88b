// Used by form, server and tests. The message of a validation issue is a key of campaign/interface.yaml.
import * as z from 'zod/mini';

import {
  CODE_LENGTH,
  DOMAIN_LABEL_MAX_OCTETS,
  EMAIL_LOCAL_PART_MAX_OCTETS,
  EMAIL_MAX_LENGTH,
  NAME_MAX_LENGTH,
  NAME_MIN_LENGTH,
} from '#shared/lengths-and-resend.ts';
import { orNull } from '#shared/or-null.ts';
import {
  IN_DOMAIN,
  isSingleLine,
  LOCAL_PART,
  tidyEmail,
  tidyText,
  visibleLength,
} from '#shared/typed-input.ts';
import type { Interface } from '#shared/campaign-schema.ts';
import { fill } from '#shared/words.ts';

export type FieldError = keyof Interface['validation'];
/** Errors that our form cannot cause (specification, section 8). */
export type OtherFieldError = Exclude<keyof Interface['otherInput'], 'checkField'>;

const typeErrorOf = (issue: { readonly input?: unknown }): OtherFieldError =>
  issue.input === undefined ? 'required' : 'invalid';
const INVALID: OtherFieldError = 'invalid';

/** Accepts one line, tidied, of 2 to 200 visible characters, such as a name. */
const lineOfText = (tooShort: FieldError, tooLong: FieldError, notOneLine: FieldError) =>
  z.string({ error: typeErrorOf }).check(
    z.overwrite(tidyText),
    z.refine((text) => visibleLength(text) >= NAME_MIN_LENGTH, { error: tooShort, abort: true }),
    z.maxLength(NAME_MAX_LENGTH, { error: tooLong, abort: true }),
    z.refine(isSingleLine, { error: notOneLine }),
  );

const EMAIL: FieldError = 'email';
const CONSENT: FieldError = 'consent';

const TYPED_DOMAIN = new RegExp(`^[${IN_DOMAIN}]+$`, 'u');
/** Tested before conversion to ASCII, which would hide a hyphen at the edge of a label. */
const HYPHEN_AT_EDGE = /(?:^|[.\u3002\uFF0E\uFF61])-|-(?:[.\u3002\uFF0E\uFF61]|$)/;
/**
 * E-mail addresses that SMTP accepts: RFC 5321, section 2.3.5; the last label consists of letters or is internationalised (RFC
 * 5890, section 2.3.2.1).
 */
const ASCII_ADDRESS = new RegExp(
  `^${LOCAL_PART}@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\\.)+(?:[a-z]{2,}|xn--[a-z0-9-]*[a-z0-9])$`,
  'i',
);

declare const URL: new (url: string) => { readonly hostname: string };

const asciiDomain = (typed: string): string | null => {
  if (!TYPED_DOMAIN.test(typed) || HYPHEN_AT_EDGE.test(typed)) return null;
  return orNull(() => new URL(`http://${typed}`).hostname);
};

/**
 * Tidies the e-mail address for sending mail and converts its domain to ASCII (UTS 46, RFC 5890).
 * @returns null for an invalid e-mail address, and for a non-ASCII local part, because few servers support SMTPUTF8 (RFC 6531)
 */
export function asciiAddress(typed: string): string | null {
  const address = tidyEmail(typed);
  const at = address.lastIndexOf('@');
  const domain = asciiDomain(address.slice(at + 1));
  if (domain === null) return null;
  const ascii = address.slice(0, at + 1) + domain;
  // Mail servers refuse longer e-mail addresses, and the visitor would not find out after the 202.
  return ASCII_ADDRESS.test(ascii) &&
    at <= EMAIL_LOCAL_PART_MAX_OCTETS &&
    ascii.length <= EMAIL_MAX_LENGTH &&
    domain.split('.').every((label) => label.length <= DOMAIN_LABEL_MAX_OCTETS)
    ? ascii
    : null;
}

const email = z.string({ error: typeErrorOf }).check(
  z.overwrite(tidyEmail),
  // Checked before the regular expressions, so that they never run on long text.
  z.maxLength(EMAIL_MAX_LENGTH, { error: EMAIL, abort: true }),
  z.refine((address) => asciiAddress(address) !== null, { error: EMAIL }),
);

/** Answers to custom questions, by field ID. Fields with several choices have a list. An empty value means unanswered. */
export type TypedAnswers = Readonly<Record<string, string | readonly string[]>>;

export const LeadForm = z.object({
  name: lineOfText('nameTooShort', 'nameTooLong', 'nameNotOneLine'),
  company: lineOfText('companyTooShort', 'companyTooLong', 'companyNotOneLine'),
  email,
  consent: z.literal(true, { error: CONSENT }),
});
export type LeadForm = z.infer<typeof LeadForm> & {
  readonly answers?: TypedAnswers | undefined;
  /** The version of the sentence next to the box for news, if it was ticked. */
  readonly newsConsentVersion?: string | undefined;
};

export type LeadAnswers = {
  readonly name: string;
  readonly company: string;
  /** As JSON (own-fields.ts); null without custom questions. */
  readonly answers: string | null;
};

export const answersOf = ({ name, company, answers }: LeadAnswers): LeadAnswers => ({
  name,
  company,
  answers,
});

export const Verification = z.object({
  email,
  code: z.string({ error: typeErrorOf }).check(z.regex(new RegExp(`^[0-9]{${CODE_LENGTH}}$`), INVALID)),
});
export type Verification = z.infer<typeof Verification>;

const NUMBERS = { minimum: NAME_MIN_LENGTH, maximum: NAME_MAX_LENGTH };

/** Finds the operator's sentence for the `message` of an issue. Returns null for an unknown key. */
export function errorIn(words: Readonly<Record<string, string>>, error: string): string | null {
  const text = words[error];
  return text === undefined ? null : fill(text, NUMBERS);
}

/**
 * Trims, lowercases and converts the domain to ASCII, for storing and comparing. RFC 5321, section 2.4, allows case-sensitive
 * mailboxes, but nobody has one. An invalid e-mail address is only trimmed and lowercased.
 */
export function normaliseEmail(address: string): string {
  const trimmed = address.trim();
  return (asciiAddress(trimmed) ?? trimmed).toLowerCase();
}

/** A hidden field that bots fill in, and sometimes autofill. Then the code costs a proof of work of about a second. */
export const HONEYPOT_FIELD = 'website';

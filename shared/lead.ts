// The two messages a visitor sends, one schema each: the form, the server and the tests all use these. An issue's message is a key of
// campaign/interface.yaml; complaintIn turns it into the operator's words.
import * as z from 'zod/mini';

import {
  CODE_LENGTH,
  DOMAIN_LABEL_MAX_OCTETS,
  DOMAIN_MAX_OCTETS,
  EMAIL_LOCAL_PART_MAX_OCTETS,
  EMAIL_MAX_LENGTH,
  NAME_MAX_LENGTH,
  NAME_MIN_LENGTH,
} from '#shared/lengths-and-resend-seconds.ts';
import type { Interface } from '#shared/campaign-schema.ts';
import { isSingleLine, tidyLine, visibleLength } from '#shared/single-line.ts';
import { IN_DOMAIN, LOCAL_PART, tidyEmail } from '#shared/typed-email.ts';
import { fill } from '#shared/words.ts';

/** What can be wrong with a field of the form. */
export type Complaint = keyof Interface['validation'];
/** What can be wrong with input that no form of ours could have produced (specification, section 8). */
export type OtherComplaint = Exclude<keyof Interface['otherInput'], 'checkField'>;

const typeComplaint = (issue: { readonly input?: unknown }): OtherComplaint =>
  issue.input === undefined ? 'required' : 'invalid';
const INVALID: OtherComplaint = 'invalid';

/** Text such as a name: tidied, one line, 2 to 200 characters that can be seen. */
const lineOfText = (tooShort: Complaint, tooLong: Complaint, notOneLine: Complaint) =>
  z.string({ error: typeComplaint }).check(
    z.overwrite(tidyLine),
    z.refine((text) => visibleLength(text) >= NAME_MIN_LENGTH, { error: tooShort, abort: true }),
    z.maxLength(NAME_MAX_LENGTH, { error: tooLong, abort: true }),
    z.refine(isSingleLine, { error: notOneLine }),
  );

const EMAIL: Complaint = 'email';
const CONSENT: Complaint = 'consent';

const TYPED_DOMAIN = new RegExp(`^[${IN_DOMAIN}]+$`, 'u');
/** Whose ASCII form would hide it. */
const HYPHEN_AT_EDGE = /(?:^|[.\u3002\uFF0E\uFF61])-|-(?:[.\u3002\uFF0E\uFF61]|$)/;
/**
 * What a mail server takes in RCPT TO: labels of letters, digits and hyphens inside (RFC 5321, section 2.3.5), and an end that is
 * letters or an international one (RFC 5890, section 2.3.2.1).
 */
const ASCII_ADDRESS = new RegExp(
  `^${LOCAL_PART}@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\\.)+(?:[a-z]{2,}|xn--[a-z0-9-]*[a-z0-9])$`,
  'i',
);

/** Browsers and Node have it alike; the types here are of neither. */
declare const URL: new (url: string) => { readonly hostname: string };

const asciiDomain = (typed: string): string | null => {
  if (!TYPED_DOMAIN.test(typed) || HYPHEN_AT_EDGE.test(typed)) return null;
  try {
    return new URL(`http://${typed}`).hostname;
  } catch {
    return null;
  }
};

/**
 * The address that mail is sent to: its domain in ASCII (UTS 46, RFC 5890), which browsers and Node have in URL.
 * @param typed may have what people type and paste around one (typed-email.ts)
 * @returns null for what is no address a mail server takes. A local part beyond ASCII is none: few servers speak SMTPUTF8
 * (RFC 6531), and a code that cannot be mailed must not be promised.
 */
export function asciiAddress(typed: string): string | null {
  const address = tidyEmail(typed);
  const at = address.lastIndexOf('@');
  const domain = asciiDomain(address.slice(at + 1));
  if (domain === null) return null;
  const ascii = address.slice(0, at + 1) + domain;
  // A longer one would be refused after our 202.
  return ASCII_ADDRESS.test(ascii) &&
    at <= EMAIL_LOCAL_PART_MAX_OCTETS &&
    ascii.length <= EMAIL_MAX_LENGTH &&
    domain.length <= DOMAIN_MAX_OCTETS &&
    domain.split('.').every((label) => label.length <= DOMAIN_LABEL_MAX_OCTETS)
    ? ascii
    : null;
}

const email = z.string({ error: typeComplaint }).check(
  z.overwrite(tidyEmail),
  // Checked before the expressions, so that they never meet a long text.
  z.maxLength(EMAIL_MAX_LENGTH, { error: EMAIL, abort: true }),
  z.refine((address) => asciiAddress(address) !== null, { error: EMAIL }),
);

/**
 * What was typed for the campaign's own questions, by the id of the field. A field with several choices has a list; an empty text or
 * list is no answer.
 */
export type TypedAnswers = Readonly<Record<string, string | readonly string[]>>;

/** What the form sends to `POST /api/leads` (specification, sections 3 and 5). */
export const Lead = z.object({
  name: lineOfText('nameTooShort', 'nameTooLong', 'nameNotOneLine'),
  company: lineOfText('companyTooShort', 'companyTooLong', 'companyNotOneLine'),
  email,
  consent: z.literal(true, { error: CONSENT }),
});
/** With the answers to the list of campaign/form.yaml, in a campaign that has one. */
export type Lead = z.infer<typeof Lead> & { readonly answers?: TypedAnswers | undefined };

/** The answers of the form beside the address, as they are stored: kept and shown wherever the name is. */
export type LeadAnswers = {
  readonly name: string;
  readonly company: string;
  /** JSON of the answers to the campaign's own questions (own-answers.ts); null without any. */
  readonly answers: string | null;
};

/** Picks the answers out of a larger object. */
export const answersOf = ({ name, company, answers }: LeadAnswers): LeadAnswers => ({
  name,
  company,
  answers,
});

/** What the code screen sends to `POST /api/verify`. */
export const Verification = z.object({
  email,
  code: z.string({ error: typeComplaint }).check(z.regex(new RegExp(`^[0-9]{${CODE_LENGTH}}$`), INVALID)),
});
export type Verification = z.infer<typeof Verification>;

const NUMBERS = { minimum: NAME_MIN_LENGTH, maximum: NAME_MAX_LENGTH };

/**
 * The sentence for an issue of the schemas above.
 * @param words the operator's sentences, by key
 * @param complaint the `message` of an issue
 * @returns null when these words have no such entry
 */
export function complaintIn(words: Readonly<Record<string, string>>, complaint: string): string | null {
  const text = words[complaint];
  return text === undefined ? null : fill(text, NUMBERS);
}

/**
 * The form of an address under which it is compared, counted and stored once: trimmed, lower case, and its domain in
 * ASCII. The standard allows case-sensitive mailboxes (RFC 5321, section 2.4); in practice there are none.
 * @param address in any form; what is no address is only trimmed and in lower case
 */
export function normaliseEmail(address: string): string {
  const trimmed = address.trim();
  return (asciiAddress(trimmed) ?? trimmed).toLowerCase();
}

/**
 * A field that people never see. Robots fill it in, and so do programs that fill forms for people: whoever does pays for the code with
 * a proof of work, which takes a browser a second.
 */
export const HONEYPOT_FIELD = 'website';

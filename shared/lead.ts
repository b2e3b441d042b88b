// The two messages a visitor sends, one schema each: the form, the server and the tests all use these. What is wrong is
// told by an entry of campaign/interface.yaml; complaintIn says it in its words.
import * as z from 'zod/mini';

import {
  CODE_LENGTH,
  DOMAIN_LABEL_MAX_OCTETS,
  DOMAIN_MAX_OCTETS,
  EMAIL_LOCAL_PART_MAX_OCTETS,
  EMAIL_MAX_LENGTH,
  NAME_MAX_LENGTH,
  NAME_MIN_LENGTH,
} from '#shared/limits.ts';
import type { Interface } from '#shared/campaign-schema.ts';
import { isSingleLine } from '#shared/text.ts';
import { fill } from '#shared/words.ts';

/** What can be wrong with a field of the form. */
export type Complaint = keyof Interface['validation'];
/** What can be wrong with input that no form of ours could have produced (specification, section 8). */
export type OtherComplaint = Exclude<keyof Interface['otherInput'], 'checkField'>;

const typeComplaint = (issue: { readonly input?: unknown }): OtherComplaint =>
  issue.input === undefined ? 'required' : 'invalid';
const INVALID: OtherComplaint = 'invalid';

/** Text such as a name: trimmed, one line, 2 to 200 characters. */
const lineOfText = (tooShort: Complaint, tooLong: Complaint, notOneLine: Complaint) =>
  z
    .string({ error: typeComplaint })
    .check(
      z.trim(),
      z.minLength(NAME_MIN_LENGTH, { error: tooShort, abort: true }),
      z.maxLength(NAME_MAX_LENGTH, { error: tooLong, abort: true }),
      z.refine(isSingleLine, { error: notOneLine }),
    );

const EMAIL: Complaint = 'email';
const CONSENT: Complaint = 'consent';

/** Of UTF-8: what takes more than one character in an address of the web takes so many of them. */
const octets = (text: string): number => encodeURIComponent(text).replace(/%../g, '.').length;

/** Whether the parts of an address are short enough for mail servers: a longer one would be refused after our 202. */
const fitsMailServers = (address: string): boolean => {
  const at = address.lastIndexOf('@');
  const domain = address.slice(at + 1);
  return (
    octets(address.slice(0, at)) <= EMAIL_LOCAL_PART_MAX_OCTETS &&
    octets(domain) <= DOMAIN_MAX_OCTETS &&
    domain.split('.').every((label) => octets(label) <= DOMAIN_LABEL_MAX_OCTETS)
  );
};

const email = z.string({ error: typeComplaint }).check(
  z.trim(),
  // Checked before the expression, so that it never meets a long text.
  z.maxLength(EMAIL_MAX_LENGTH, { error: EMAIL, abort: true }),
  z.regex(z.regexes.email, { error: EMAIL, abort: true }),
  z.refine(fitsMailServers, { error: EMAIL }),
);

/** What the form sends to `POST /api/leads` (specification, sections 3 and 5). */
export const Lead = z.object({
  name: lineOfText('nameTooShort', 'nameTooLong', 'nameNotOneLine'),
  company: lineOfText('companyTooShort', 'companyTooLong', 'companyNotOneLine'),
  email,
  consent: z.literal(true, { error: CONSENT }),
});
export type Lead = z.infer<typeof Lead>;

/** What the code screen sends to `POST /api/verify`. */
export const Verification = z.object({
  email,
  code: z.string({ error: typeComplaint }).check(z.regex(new RegExp(`^[0-9]{${CODE_LENGTH}}$`), INVALID)),
});
export type Verification = z.infer<typeof Verification>;

const NUMBERS = { minimum: NAME_MIN_LENGTH, maximum: NAME_MAX_LENGTH };

/**
 * What a complaint of the schemas above says.
 * @param words the operator's, by what is wrong
 * @param complaint the `message` of an issue
 * @returns null when these words have no such entry
 */
export function complaintIn(words: Readonly<Record<string, string>>, complaint: string): string | null {
  const text = words[complaint];
  return text === undefined ? null : fill(text, NUMBERS);
}

/**
 * The form of an address under which it is compared, counted and stored once: trimmed and lower case. The
 * standard allows case-sensitive mailboxes (RFC 5321, section 2.4); in practice nobody has one.
 */
export function normaliseEmail(address: string): string {
  return address.trim().toLowerCase();
}

/** A field people never see: whoever fills it in is a robot, is answered like everybody else, and gets no mail. */
export const HONEYPOT_FIELD = 'website';

// The two messages a visitor sends, one schema each: the form, the server and the tests all use these.
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
import { isSingleLine } from '#shared/text.ts';

/** The generic messages of the specification, section 8, for input that no form could have produced. */
const typeMessage = (issue: { readonly input?: unknown }): string =>
  issue.input === undefined ? 'Required' : 'Invalid input';

/** Text such as a name: trimmed, one line, 2 to 200 characters. */
const lineOfText = (label: string) =>
  z.string({ error: typeMessage }).check(
    z.trim(),
    z.minLength(NAME_MIN_LENGTH, {
      error: `${label} must be at least ${NAME_MIN_LENGTH} characters`,
      abort: true,
    }),
    z.maxLength(NAME_MAX_LENGTH, {
      error: `${label} must be at most ${NAME_MAX_LENGTH} characters`,
      abort: true,
    }),
    z.refine(isSingleLine, { error: `${label} must be one line of plain text` }),
  );

const EMAIL_MESSAGE = 'Please enter a valid email address';

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

const email = z.string({ error: typeMessage }).check(
  z.trim(),
  // Checked before the expression, so that it never meets a long text.
  z.maxLength(EMAIL_MAX_LENGTH, { error: EMAIL_MESSAGE, abort: true }),
  z.regex(z.regexes.email, { error: EMAIL_MESSAGE, abort: true }),
  z.refine(fitsMailServers, { error: EMAIL_MESSAGE }),
);

/** What the form sends to `POST /api/leads` (specification, sections 3 and 5). */
export const Lead = z.object({
  name: lineOfText('Name'),
  company: lineOfText('Company name'),
  email,
  consent: z.literal(true, { error: 'You must agree to receive emails' }),
});
export type Lead = z.infer<typeof Lead>;

/** What the code screen sends to `POST /api/verify`. */
export const Verification = z.object({
  email,
  code: z
    .string({ error: typeMessage })
    .check(z.regex(new RegExp(`^[0-9]{${CODE_LENGTH}}$`), 'Invalid input')),
});
export type Verification = z.infer<typeof Verification>;

/**
 * The form of an address under which it is compared, counted and stored once: trimmed and lower case. The
 * standard allows case-sensitive mailboxes (RFC 5321, section 2.4); in practice nobody has one.
 */
export function normaliseEmail(address: string): string {
  return address.trim().toLowerCase();
}

/** A field people never see: whoever fills it in is a robot, is answered like everybody else, and gets no mail. */
export const HONEYPOT_FIELD = 'website';

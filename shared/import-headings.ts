// Column headings that an import recognises. A custom question must not use one of these names.

/** Headings separated by commas. */
const headings = (text: string): readonly string[] => text.trim().split(/\s*,\s*/);

/** Compared by {@link headingKey}. If several occur in a file, the first in this list is used. */
export const IMPORT_HEADINGS = {
  email: headings(`
    email, email address, work email, person email, contact email, subscriber email, email adresse, mail
  `),
  name: headings('name, full name, person name, contact name, subscriber name'),
  firstName: headings('first name, fname, given name, vorname'),
  lastName: headings('last name, lname, surname, family name, nachname'),
  company: headings(`
    company, company name, organization, organisation, organization name, organisation name,
    account name, company account, firma, unternehmen
  `),
  // "created at" is missing, because being listed in a tool is not consent.
  consentGivenAt: headings(`
    consent given at, person consent given at, consent date, consent time, consent timestamp,
    opt in time, opt in date, confirmation time, confirm time, email marketing consent timestamp,
    opted in at, subscribed at, subscribed on, subscription date, date subscribed, signup date,
    einwilligung am
  `),
} as const;

/** Lower case without accents, with single spaces: `isSubscribed` becomes `is subscribed`. */
export const plainHeading = (heading: string): string =>
  heading
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036F]+/g, '')
    .normalize('NFC')
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** The same for "opt in", "Opt-in", "optIn" and "optin". Text without letters or digits is its own key. */
export const headingKey = (heading: string): string => plainHeading(heading).replaceAll(' ', '') || heading;

export const keysOf = (names: readonly string[]): ReadonlySet<string> => new Set(names.map(headingKey));

const PERSON_HEADINGS = keysOf(Object.values(IMPORT_HEADINGS).flat());

/**
 * Columns about permission to mail. `status`: in words. `consent`: yes, no or a date. `optedOut`: any value means that the
 * person unsubscribed, bounced or complained.
 */
export type StatusKind = 'status' | 'consent' | 'optedOut';

const STATUS_HEADINGS = keysOf(
  headings(`
    status, marketing contact status, statut, subscription status, subscription state, subscribe status,
    subscribe state, subscriber status, subscriber state, email status, email permission status,
    email subscriber status, email subscription status, email marketing status,
    email marketing consent state, marketing status, marketing email confirmation status,
    hs emailconfirmationstatus, person marketing status
  `),
);

const CONSENT_HEADINGS = keysOf(
  headings(`
    consent, consent email, email consent, email marketing consent, gdpr consent, marketing consent,
    newsletter consent, accepts email marketing, accepts marketing, can receive email marketing,
    subscribed, is subscribed, email subscribed, subscribed to email, subscribed to emails, newsletter,
    confirmed, opt in, opted in, is opted in, double opt in, email opt in, marketing opt in,
    newsletter opt in, einwilligung, werbeeinwilligung, abonniert, newsletter abonniert, abonné,
    consentement, consentimiento, consenso
  `),
);

/**
 * Match headings of columns about people who unsubscribed, bounced or complained, because every tool names them differently.
 * Applied to results of {@link plainHeading}.
 */
export const OPT_OUT_WORDS = [
  'unsub',
  '\\bun sub',
  '(?:non|not|never) ?subscri',
  'opt(?:ed)? ?out',
  'black ?list',
  'block ?list',
  '(?:hard ?)?bounce',
  'do ?not ?(?:allow ?)?(?:bulk ?)?(?:e ?mail|mail|contact|market)',
  '\\bclean(?:ed| time)\\b',
  '(?:spam )?complain',
  'spam report',
  'marked as spam',
  'suppress',
  'mail disabled',
  'invalid e ?mail',
  'bad address',
  'quarantine',
  '\\barchived\\b',
  '\\bdeleted\\b',
  '\\bstop time\\b',
  'consent withdraw',
  'withdrawn',
  '\\brevoked\\b',
  'abgemeldet',
  'abmeld',
  'abbestell',
  // Shops ask whether a customer accepted the instructions on withdrawal.
  'widerruf(?!sbelehrung)',
  '(?:ge)?sperr(?:t|e|liste)',
  'desabonn',
  'desinscri',
  'desuscri',
  '(?:dad[oa] )?de baja',
  'disiscri',
].join('|');
const OPT_OUT = new RegExp(OPT_OUT_WORDS);
/** Links and counters that {@link OPT_OUT} would match, such as our own unsubscribe_url. */
const NO_STATUS = /(?:url|link|token|key|hash|count|rate|score|page)$|emails bounced|hs email bounce$|soft/;
const OTHER_CHANNEL = /\b(?:sms|mms|text|phone|telephone|mobile|calls?|fax|whats ?app|push|postal)\b/;
const E_MAIL = /\be ?mails?\b/;

/** @returns null for a heading about another subject */
export function statusKind(heading: string): StatusKind | null {
  if (!isAboutMail(heading)) return null;
  const key = headingKey(heading);
  if (STATUS_HEADINGS.has(key)) return 'status';
  if (CONSENT_HEADINGS.has(key)) return 'consent';
  const plain = plainHeading(heading);
  return OPT_OUT.test(plain) && !NO_STATUS.test(plain) ? 'optedOut' : null;
}

/** Returns false for columns only about another channel, such as SMS. */
export function isAboutMail(heading: string): boolean {
  const plain = plainHeading(heading);
  return !OTHER_CHANNEL.test(plain) || E_MAIL.test(plain);
}

export const isImportHeading = (heading: string): boolean =>
  PERSON_HEADINGS.has(headingKey(heading)) || statusKind(heading) !== null;

// Column headings that an import recognises. A custom question must not use one of these names.

/** Lower case, single spaces. The first one that occurs in the file is used. */
export const IMPORT_HEADINGS = {
  email: [
    'email',
    'e mail',
    'email address',
    'e mail address',
    'work email',
    'person email',
    'contact email',
    'subscriber email',
    'e mail adresse',
    'email adresse',
    'mail',
  ],
  name: ['name', 'full name', 'fullname', 'person name', 'contact name', 'subscriber name'],
  firstName: ['first name', 'firstname', 'fname', 'given name', 'vorname'],
  lastName: ['last name', 'lastname', 'lname', 'surname', 'family name', 'nachname'],
  company: [
    'company',
    'company name',
    'organization',
    'organisation',
    'organization name',
    'organisation name',
    'account name',
    'firma',
    'unternehmen',
  ],
  // "created at" is missing, because being listed in a tool is not consent.
  consentGivenAt: [
    'consent given at',
    'person consent given at',
    'consent date',
    'consent time',
    'consent timestamp',
    'opt in time',
    'opt in date',
    'optin time',
    'optin date',
    'confirmation time',
    'confirm time',
    'email marketing consent timestamp',
    'opted in at',
    'subscribed at',
    'subscribed on',
    'subscription date',
    'date subscribed',
    'signup date',
    'sign up date',
    'einwilligung am',
  ],
} as const;

export const plainHeading = (heading: string): string =>
  heading
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

const TAKEN: ReadonlySet<string> = new Set(Object.values(IMPORT_HEADINGS).flat());

/**
 * Columns about permission to mail. `status`: in words. `consent`: yes, no or a date. `left`: any value means that the
 * person unsubscribed, bounced or complained.
 */
export type StatusKind = 'status' | 'consent' | 'left';

const STATUS_HEADINGS: ReadonlySet<string> = new Set([
  'status',
  'subscription status',
  'subscription state',
  'subscribe status',
  'subscribe state',
  'subscriber status',
  'subscriber state',
  'email status',
  'email permission status',
  'email subscriber status',
  'email subscription status',
  'email marketing status',
  'marketing status',
  'marketing email confirmation status',
  'hs emailconfirmationstatus',
  'person marketing status',
]);

const CONSENT_HEADINGS: ReadonlySet<string> = new Set([
  'consent',
  'email consent',
  'email marketing consent',
  'gdpr consent',
  'marketing consent',
  'newsletter consent',
  'accepts email marketing',
  'accepts marketing',
  'subscribed',
  'is subscribed',
  'email subscribed',
  'subscribed to email',
  'subscribed to emails',
  'newsletter',
  'confirmed',
  'opt in',
  'optin',
  'opted in',
  'is opted in',
  'double opt in',
  'email opt in',
  'marketing opt in',
  'newsletter opt in',
  'einwilligung',
]);

/** Columns that mark an unsubscribed, bounced or blocked contact. A pattern, because every tool names them differently. */
const LEFT =
  /unsub|opt(?:ed)? ?out|black ?list|block ?list|bounce|do ?not ?(?:allow ?)?(?:bulk ?)?(?:e ?mail|mail|contact|market)|\bclean(?:ed| time)\b|complain|suppress|spam report|marked as spam|mail disabled|invalid e ?mail|bad address|quarantine|\barchived\b|\bdeleted\b|\bstop time\b|abgemeldet|abmeld|abbestell/;
/** Links and counters that {@link LEFT} would match, such as our own unsubscribe_url. */
const NO_STATUS = /(?:url|link|token|key|hash|count|rate|score|page)$|emails bounced|hs email bounce$|soft/;
const OTHER_CHANNEL = /\b(?:sms|mms|text|phone|telephone|mobile|calls?|fax|whatsapp|push|postal)\b/;

/**
 * @param heading a result of {@link plainHeading}
 * @returns null for a heading about another subject
 */
export function statusKind(heading: string): StatusKind | null {
  if (STATUS_HEADINGS.has(heading)) return 'status';
  if (CONSENT_HEADINGS.has(heading)) return 'consent';
  return LEFT.test(heading) && !NO_STATUS.test(heading) && isAboutMail(heading) ? 'left' : null;
}

/**
 * Returns false for columns about another channel, such as SMS.
 * @param heading a result of {@link plainHeading}
 */
export const isAboutMail = (heading: string): boolean => !OTHER_CHANNEL.test(heading);

export function isImportHeading(heading: string): boolean {
  const plain = plainHeading(heading);
  return TAKEN.has(plain) || statusKind(plain) !== null;
}

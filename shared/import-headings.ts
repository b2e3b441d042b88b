// The headings by which an import finds its columns, as common tools write them. A question of the campaign's own must not be called like one.

/** In lower case, words separated by one space. The first heading that the file has counts. */
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
  // Not "created at": an entry in a tool is no consent.
  consentGivenAt: [
    'consent given at',
    'consent date',
    'consent time',
    'consent timestamp',
    'opt in time',
    'opt in date',
    'optin time',
    'optin date',
    'confirmation time',
    'confirm time',
    'subscribed at',
    'subscribed on',
    'subscription date',
    'date subscribed',
    'signup date',
    'sign up date',
    'einwilligung am',
  ],
  status: [
    'status',
    'subscription status',
    'email status',
    'email marketing status',
    'subscriber status',
    'marketing status',
  ],
} as const;

/** A heading as it is compared. */
export const plainHeading = (heading: string): string =>
  heading
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

const TAKEN: ReadonlySet<string> = new Set(Object.values(IMPORT_HEADINGS).flat());

/** Whether an import takes a column with this heading for something else than an answer. */
export const isImportHeading = (heading: string): boolean => TAKEN.has(plainHeading(heading));

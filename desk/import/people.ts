// Finds people in the rows of a previous tool's CSV, by the headings that common tools write.
import { withoutApostrophe } from '#desk/export/csv.ts';
import type { FormMessages, OwnForm } from '#shared/campaign-schema.ts';
import {
  IMPORT_HEADINGS,
  isAboutMail,
  isImportHeading,
  plainHeading,
  statusKind,
  type StatusKind,
} from '#shared/import-headings.ts';
import { asciiAddress, normaliseEmail, type LeadAnswers, type TypedAnswers } from '#shared/lead.ts';
import { EMAIL_MAX_LENGTH, NAME_MAX_LENGTH } from '#shared/lengths-and-resend-seconds.ts';
import { answersText, labelledAnswers, splitChoices } from '#shared/own-answers.ts';
import { answerSchema } from '#shared/own-fields.ts';
import { isSingleLine } from '#shared/single-line.ts';

type Field = keyof typeof IMPORT_HEADINGS;
const FIELDS = Object.keys(IMPORT_HEADINGS) as Field[];

/** The column of each field. */
export type Columns = Readonly<Partial<Record<Field, number>>> & {
  readonly email: number;
  readonly count: number;
  /** The columns of the campaign's own questions, by id. */
  readonly own: Readonly<Record<string, number>>;
  /** Every column that may say that a person is not to be mailed. */
  readonly statuses: readonly StatusColumn[];
};

type StatusColumn = {
  readonly place: number;
  readonly heading: string;
  /** `other`: used for nothing else, and read only for the plainest of words. */
  readonly kind: StatusKind | 'other';
};

/** The headings of a file by what they are for. */
export type Headings = { readonly used: readonly string[]; readonly unused: readonly string[] };

/** How a date such as 3/4/2024 is read. */
type DateOrder = 'dmy' | 'mdy';

export type ReadOptions = {
  readonly dateOrder: DateOrder | undefined;
  readonly now: number;
  /** The campaign's own questions. */
  readonly form: OwnForm;
  readonly takenStatuses: ReadonlySet<string>;
};

/** Answers that are not in the file are empty. */
export type FoundPerson = LeadAnswers & {
  /** In the form in which addresses are stored. */
  readonly email: string;
  /** Milliseconds since 1970; null when the file does not say. */
  readonly consentGivenAt: number | null;
};

/**
 * @param form the campaign's own questions: a column has the id, the label or a CRM's property of one as its heading
 * @returns null when no column holds addresses
 */
export function findColumns(
  headings: readonly string[],
  { fields }: Pick<OwnForm, 'fields'>,
): ({ readonly columns: Columns } & Headings) | null {
  const plain = headings.map(plainHeading);
  const places = FIELDS.flatMap((field) => {
    const heading = IMPORT_HEADINGS[field].find((name) => plain.includes(name));
    return heading === undefined ? [] : [[field, plain.indexOf(heading)] as const];
  });
  const { email, ...others } = Object.fromEntries(places) as Partial<Record<Field, number>>;
  if (email === undefined) return null;
  const taken = new Set(places.map(([, place]) => place));
  const own = fields.flatMap(({ id, label, properties = {} }): (readonly [id: string, place: number])[] => {
    // What a CRM calls its status is read as one all the same.
    const inPrograms = Object.values(properties).flatMap((name = '') =>
      isImportHeading(name) ? [] : [name],
    );
    const names = new Set([id, label, ...inPrograms].map(plainHeading));
    const place = plain.findIndex((heading, at) => !taken.has(at) && names.has(heading));
    return place < 0 ? [] : [[id, place]];
  });
  for (const [, place] of own) taken.add(place);
  const statuses = headings.flatMap((heading, place): StatusColumn[] => {
    const name = plain[place]!;
    if (taken.has(place) || !isAboutMail(name)) return [];
    return [{ place, heading, kind: statusKind(name) ?? 'other' }];
  });
  for (const { place, kind } of statuses) if (kind !== 'other') taken.add(place);
  return {
    columns: { email, ...others, count: headings.length, own: Object.fromEntries(own), statuses },
    used: [...taken].map((place) => headings[place]!),
    unused: headings.filter((heading, place) => heading !== '' && !taken.has(place)),
  };
}

/**
 * What tools call people who agreed to get mail, as {@link statusKey} has it. Nobody is taken by another status: no list of the words for
 * those who did not would ever be whole. Not "verified": there are tools that say it of addresses alone.
 */
const AGREED: ReadonlySet<string> = new Set([
  'subscribed',
  'subscriber',
  'active',
  'active subscriber',
  'confirmed',
  'opt in',
  'optin',
  'opted in',
  'opt in confirmed',
  'confirmed opt in',
  'double opt in',
  'double optin',
  'double opt in confirmed',
  'double opt in verified',
  'abonniert',
  'abonnent',
  'abonnentin',
  'aktiv',
  'angemeldet',
  'bestätigt',
  'eingewilligt',
]);

/** @param text words separated by spaces */
const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const YES = words('yes y true t 1 on x ja oui checked given granted agreed accepted allow allowed ✓ ✔');
const NO = words(
  'no n false f off nein non never none null nil na unchecked allow allowed subscribed - [] {}',
);
/** 0, 0.0 and 0000-00-00, as {@link statusKey} has them. */
const ZERO = /^[0 ]+$/;
/** When they agreed. */
const DATE = /^(?=.*\b(?:19|20)\d\d\b)[\d tz]+(?:am|pm|utc|gmt)?[\d ]*$/;

/** Words that mean the same in every column, whatever its heading. The last are those of our own files. */
const LEFT: ReadonlySet<string> = new Set([
  'unsubscribed',
  'unsubscribe',
  'unsub',
  'opted out',
  'opt out',
  'optout',
  'bounced',
  'hard bounce',
  'hard bounced',
  'hardbounce',
  'cleaned',
  'complained',
  'spam complaint',
  'marked as spam',
  'blocklisted',
  'blacklisted',
  'do not contact',
  'do not email',
  'cancelled',
  'canceled',
  'unconfirmed',
  'unactivated',
  'abgemeldet',
  'suppressed',
  'unverified',
  'by hand',
]);

/** A status as it is compared: without regard to capital letters and punctuation, unless it has nothing else. */
export const statusKey = (status: string): string => plainHeading(status) || status;

/** An answer that fits no question as it is asked now: the person is imported without it. */
export type LeftOut = {
  /** Of the question. */
  readonly id: string;
  readonly label: string;
  /** What it is not, to follow the label. */
  readonly reason: string;
};

/** What an import says of answers that do not fit: the desk's words, which follow the question. */
const REASONS: FormMessages = {
  tooLong: 'more than {maximum} characters',
  notPlain: 'not plain text',
  telephone: 'not a valid telephone number',
  number: 'not a valid number, such as 1500',
  url: 'not a valid web address',
  choice: 'not one of the options',
  // None of these can happen here.
  choose: '',
  required: '',
  changed: '',
};

/**
 * Reads one row.
 * @param options now: consent cannot come after it, milliseconds since 1970; takenStatuses: what else is said of people who agreed, by
 *   {@link statusKey}
 * @returns a reason in words, to follow the number of the line, when the row cannot be used
 */
export function readPerson(
  cells: readonly string[],
  columns: Columns,
  { dateOrder, now, form, takenStatuses }: ReadOptions,
):
  | { readonly type: 'person'; readonly person: FoundPerson; readonly leftOut: readonly LeftOut[] }
  | { readonly type: 'unsubscribed'; readonly email: string; readonly status: string }
  | {
      readonly type: 'bad';
      readonly reason: string;
      /** All addresses in it: whichever is the person's, it may say that they unsubscribed. */
      readonly emails: readonly string[];
    } {
  const bad = (reason: string) => ({ type: 'bad', reason, emails: cells.flatMap(addressesIn) }) as const;
  const cell = (field: Field): string => withoutApostrophe(cells[columns[field] ?? -1] ?? '');
  if (cells.length > columns.count)
    return bad(`has ${cells.length} columns, and there are ${columns.count} headings`);
  const address = cell('email').trim();
  if (address === '') return bad('has no e-mail address');
  if (address.length > EMAIL_MAX_LENGTH || asciiAddress(address) === null)
    return bad('has an e-mail address that is none');
  const email = normaliseEmail(address);
  const status = statusLeftOutBy(cells, columns, takenStatuses);
  if (status !== null) return { type: 'unsubscribed', email, status };
  const answers = {
    name: cell('name') || [cell('firstName'), cell('lastName')].filter(Boolean).join(' '),
    company: cell('company'),
  };
  for (const [what, text] of Object.entries(answers)) {
    if (text.length > NAME_MAX_LENGTH) return bad(`has a ${what} of more than ${NAME_MAX_LENGTH} characters`);
    const mark = notPlain(text);
    if (mark !== null) return bad(`has a ${what} ${mark}`);
  }
  const date = cell('consentGivenAt');
  const consentGivenAt = date === '' ? null : readDate(date, dateOrder);
  if (consentGivenAt === 'ambiguous')
    return bad('has a date that can be read in two ways: say --date-order dmy or mdy');
  if (consentGivenAt === 'none') return bad('has a date of consent that is none');
  if (consentGivenAt !== null && consentGivenAt > now)
    return bad('has a date of consent that is yet to come');
  const own = ownAnswers(cells, columns, form);
  return {
    type: 'person',
    person: { email, ...answers, answers: own.answers, consentGivenAt },
    leftOut: own.leftOut,
  };
}

/** The first status of a row that does not say that the person may be mailed; null: there is none. */
function statusLeftOutBy(
  cells: readonly string[],
  { statuses }: Columns,
  takenStatuses: ReadonlySet<string>,
): string | null {
  for (const { place, heading, kind } of statuses) {
    const text = withoutApostrophe(cells[place] ?? '');
    if (text === '' || isFine(kind, statusKey(text))) continue;
    // What is left of a date or a reason would only tell people apart.
    const status = kind === 'status' ? text : kind === 'left' ? heading : `${heading}: ${text}`;
    if (!takenStatuses.has(statusKey(status))) return status;
  }
  return null;
}

function isFine(kind: StatusColumn['kind'], key: string): boolean {
  switch (kind) {
    case 'status':
      return AGREED.has(key);
    case 'consent':
      return AGREED.has(key) || YES.has(key) || DATE.test(key);
    case 'left':
      return NO.has(key) || ZERO.test(key) || key === 'n a' || key.startsWith('http');
    case 'other':
      return !LEFT.has(key);
  }
}

/** What makes a text no line of plain text, to follow its name; null: nothing. */
function notPlain(text: string): string | null {
  const mark = Array.from(text).find((one) => !isSingleLine(one));
  if (mark === undefined) return null;
  if (/[\n\v\f\r\u0085\u2028\u2029]/.test(mark)) return 'of more than one line';
  const point = mark.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  return `with an invisible control character (U+${point})`;
}

/** What is left of letters that were lost (U+FFFD), or of UTF-8 that was taken for windows-1252: Ã¼ for ü. */
const GARBLED = /\uFFFD|[ÂÃ][\u0080-\u00BF\u0152-\u0178\u02C6\u02DC\u2013-\u203A\u20AC\u2122]|â€/;

export const isGarbled = ({ name, company }: FoundPerson): boolean => GARBLED.test(`${name} ${company}`);

const BETWEEN_WORDS = /[\s<>()[\]:;,"']+/;

const addressesIn = (text: string): string[] =>
  text
    .split(BETWEEN_WORDS)
    .filter((word) => asciiAddress(word) !== null)
    .map(normaliseEmail);

/** What the file says to the campaign's own questions: as a visitor would have to answer them, but none has to be answered. */
function ownAnswers(
  cells: readonly string[],
  { own }: Columns,
  { fields }: OwnForm,
): { readonly answers: string | null; readonly leftOut: readonly LeftOut[] } {
  const answers: Record<string, TypedAnswers[string]> = {};
  const leftOut: LeftOut[] = [];
  for (const field of fields) {
    const { id, label, kind } = field;
    // Files from a Mac may have an accent behind its letter: an option would not be found.
    const text = withoutApostrophe((cells[own[id] ?? -1] ?? '').trim()).normalize('NFC');
    const checked = answerSchema({ ...field, required: false }, REASONS).safeParse(
      kind === 'choices' ? splitChoices(text) : text,
    );
    if (checked.success) answers[id] = checked.data;
    else leftOut.push({ id, label, reason: checked.error.issues[0]!.message });
  }
  return { answers: answersText(labelledAnswers(fields, answers)), leftOut };
}

const TIME = String.raw`(?:,?[ T]+(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:\.\d+)?)?(?: ?(?<half>[AP]M))?)?`;
const ZONE = String.raw`(?: ?(?<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2}))?`;
const YEAR_FIRST = new RegExp(
  `^(?<year>\\d{4})([-/])(?<month>\\d{1,2})\\2(?<day>\\d{1,2})${TIME}${ZONE}$`,
  'i',
);
const DAY_FIRST = new RegExp(`^(?<day>\\d{1,2})\\.(?<month>\\d{1,2})\\.(?<year>\\d{4})${TIME}${ZONE}$`, 'i');
const SLASHED = new RegExp(`^(?<one>\\d{1,2})/(?<two>\\d{1,2})/(?<year>\\d{4})${TIME}${ZONE}$`, 'i');

/**
 * Reads 2024-03-04, 2024-03-04 10:20:30, 2024-03-04T10:20:30+01:00, 4.3.2024 or 3/4/2024. What names no zone is in UTC.
 * @returns milliseconds since 1970; `ambiguous`: day and month may be either; `none`: no such day or time
 */
function readDate(text: string, order: DateOrder | undefined): number | 'ambiguous' | 'none' {
  const plain = (YEAR_FIRST.exec(text) ?? DAY_FIRST.exec(text))?.groups;
  const slashed = SLASHED.exec(text)?.groups;
  const parts = plain ?? slashed;
  if (parts === undefined) return 'none';
  let [month, day] = [Number(parts['month']), Number(parts['day'])];
  if (slashed !== undefined) {
    const [one, two] = [Number(slashed['one']), Number(slashed['two'])];
    const read = order ?? (one > 12 ? 'dmy' : two > 12 || one === two ? 'mdy' : undefined);
    if (read === undefined) return 'ambiguous';
    [day, month] = read === 'dmy' ? [one, two] : [two, one];
  }
  const { year, hour = '0', minute = '0', second = '0', half, zone = 'Z' } = parts;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0);
  const two = (value: number | string) => String(value).padStart(2, '0');
  const date = `${year}-${two(month)}-${two(day)}`;
  const offset = /^[+-]/.test(zone) ? zone.replace(/^(...):?(..)$/, '$1:$2') : 'Z';
  const ms = Date.parse(`${date}T${two(hours)}:${two(minute)}:${two(second)}${offset}`);
  // JavaScript takes the 31st of February for a day in March.
  return Number.isNaN(ms) || !isoDay(date).startsWith(date) ? 'none' : ms;
}

function isoDay(date: string): string {
  const ms = Date.parse(date);
  return Number.isNaN(ms) ? '' : new Date(ms).toISOString();
}

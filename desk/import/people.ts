import type { FormMessages, OwnForm } from '#shared/campaign-schema.ts';
import { readDay } from '#shared/days.ts';
import { TOUCH_NAMES } from '#shared/funnel.ts';
import {
  headingKey,
  IMPORT_HEADINGS,
  isAboutMail,
  isImportHeading,
  keysOf,
  LEFT_WORDS,
  plainHeading,
  statusKind,
  type StatusKind,
} from '#shared/import-headings.ts';
import { asciiAddress, normaliseEmail, type LeadAnswers, type TypedAnswers } from '#shared/lead.ts';
import { EMAIL_MAX_LENGTH, NAME_MAX_LENGTH } from '#shared/limits.ts';
import { isSingleLine } from '#shared/typed-input.ts';
import { answerSchema, storedAnswers, labelledAnswers, splitChoices } from '#shared/own-fields.ts';
import { TOOL_NAMES, TOOLS } from '#shared/tools.ts';

type Field = keyof typeof IMPORT_HEADINGS;
const ANSWERS: readonly Answer[] = ['name', 'firstName', 'lastName', 'company'];

type Answer = Exclude<Field, 'email' | 'consentGivenAt'>;

export type Columns = Readonly<Partial<Record<Answer, number>>> & {
  readonly email: number;
  /** The first one with a time counts. */
  readonly consentTimes: readonly number[];
  readonly count: number;
  readonly own: Readonly<Record<string, number>>;
  readonly statuses: readonly StatusColumn[];
};

type StatusColumn = {
  readonly place: number;
  readonly heading: string;
  /** `state`: of a subscription or a country. */
  readonly kind: StatusKind | 'state' | 'other';
};

/** `searched`: read only for words such as "unsubscribed". */
export type Headings = Readonly<Record<'used' | 'searched' | 'unused', readonly string[]>>;

/** The order of day and month in a date such as 3/4/2024. */
type DateOrder = 'dmy' | 'mdy';

export type ReadOptions = {
  readonly dateOrder: DateOrder | undefined;
  readonly now: number;
  readonly form: OwnForm;
  readonly takenStatuses: ReadonlySet<string>;
};

export type FoundPerson = LeadAnswers & {
  /** Normalised like stored e-mail addresses. */
  readonly email: string;
  /** Milliseconds since 1970; null if unknown. */
  readonly consentGivenAt: number | null;
};

/** @param form has the custom questions; a column's heading may be the ID, label or CRM property of one */
export function findColumns(
  headings: readonly string[],
  { fields }: Pick<OwnForm, 'fields'>,
): ({ readonly columns: Columns } & Headings) | null {
  const keys = headings.map(headingKey);
  const placesOf = (field: Field) =>
    IMPORT_HEADINGS[field].map((name) => keys.indexOf(headingKey(name))).filter((place) => place >= 0);
  const [email] = placesOf('email');
  if (email === undefined) return null;
  const consentTimes = placesOf('consentGivenAt');
  const answers = ANSWERS.flatMap((field) =>
    placesOf(field)
      .slice(0, 1)
      .map((place) => [field, place] as const),
  );
  const taken = new Set([email, ...consentTimes, ...answers.map(([, place]) => place)]);
  const own = fields.flatMap(({ id, label, properties = {} }): (readonly [id: string, place: number])[] => {
    // A status column remains a status column even if a question is mapped to it.
    const inPrograms = Object.values(properties).flatMap((name = '') =>
      isImportHeading(name) ? [] : [name],
    );
    const names = keysOf([id, `answers.${id}`, label, ...inPrograms]);
    const place = keys.findIndex((key, at) => !taken.has(at) && names.has(key));
    return place < 0 ? [] : [[id, place]];
  });
  for (const [, place] of own) taken.add(place);
  const statuses = headings.flatMap((heading, place): StatusColumn[] => {
    if (taken.has(place) || !isAboutMail(heading)) return [];
    const kind = statusKind(heading) ?? (headingKey(heading) === 'state' ? 'state' : 'other');
    return kind === 'other' && isFromVisitors(heading, place, headings) ? [] : [{ place, heading, kind }];
  });
  for (const { place, kind } of statuses) if (isAboutStatus(kind)) taken.add(place);
  const searched = new Set(statuses.map(({ place }) => place));
  const rest = headings.filter((heading, place) => heading !== '' && !taken.has(place));
  return {
    columns: {
      email,
      consentTimes,
      ...Object.fromEntries(answers),
      count: headings.length,
      own: Object.fromEntries(own),
      statuses,
    },
    used: [...taken].map((place) => headings[place]!),
    searched: rest.filter((heading) => searched.has(headings.indexOf(heading))),
    unused: rest.filter((heading) => !searched.has(headings.indexOf(heading))),
  };
}

const TOUCH_COLUMN = new RegExp(`(?:^| )(?:source|${TOUCH_NAMES.map(plainHeading).join('|')})$`);
const ANSWERS_COLUMN = /^(?:earlier )?answers\b/;

/** Our exports repeat links and answers, and a stranger can write "unsubscribed" in both. */
function isFromVisitors(heading: string, place: number, headings: readonly string[]): boolean {
  const plain = plainHeading(heading);
  if (TOUCH_COLUMN.test(plain) || ANSWERS_COLUMN.test(plain)) return true;
  return TOOL_NAMES.some((tool) => {
    const ours = Object.keys(TOOLS[tool].columns);
    return place < ours.length && ours.every((name, at) => name === headings[at]);
  });
}

/**
 * Only these statuses import a person, because a list of refusals would never be complete. "Verified" is missing because some
 * tools say it of e-mail addresses.
 */
const AGREED = keysOf([
  'marketing contact',
  'subscribed',
  'subscriber',
  'active',
  'active subscriber',
  'confirmed',
  'opt in',
  'opted in',
  'opt in confirmed',
  'confirmed opt in',
  'double opt in',
  'double opt in confirmed',
  'double opt in verified',
  'abonniert',
  'abonnent',
  'abonnentin',
  'aktiv',
  'angemeldet',
  'bestätigt',
  'eingewilligt',
  'abonné',
  'abonnée',
  'actif',
]);

const words = (text: string): ReadonlySet<string> => keysOf(text.split(' '));

const YES = words('yes y true t 1 on x ja oui sí checked given granted agreed accepted allow allowed ✓ ✔');
/** In a column that says who left, "allowed" and "subscribed" mean that the person stayed. */
const NO = words(
  'no n false f off nein non never none null nil na unchecked allow allowed subscribed - [] {}',
);
/** Matches 0, 0.0 and 0000-00-00 after {@link headingKey}. */
const ZERO = /^0+$/;
/** Brevo's columns list channels, such as `[email_marketing|sms_marketing]`. */
const MAIL_CHANNEL = /\bemail marketing\b/;
const OTHER_CHANNELS = /^(?:(?:sms|whatsapp|push) marketing ?)+$/;
const DATE = /^(?=.*\b(?:19|20)\d\d\b)[\d tz]+(?:am|pm|utc|gmt)?[\d ]*$/;

/** The last ones come from our own exports. */
const LEFT_STATES = 'cancell?ed|unconfirmed|unactivated|inactive|disabled|bajas?|unverified|by hand';
const LEFT = `(?:(?:${LEFT_WORDS})\\S*|(?:${LEFT_STATES})\\b)`;
/** Such as "Unsubscribed at 2024-01-01", which excludes a person in any column. */
const LEFT_CELL = new RegExp(`^${LEFT}(?: (?:(?:at|on|am) )?\\d.*)?$`);

/** Kit's column "state" holds statuses. Unlike its other statuses, these are never a region of a country. */
const UNSURE_STATES = keysOf(['pending', 'blocked', 'paused']);
const NOT_YET = /^un(?:confirmed|activated|verified)\b|(?:non|not|never) ?subscri/;
const LEFT_ANYWHERE = new RegExp(`^${LEFT}|(?:${LEFT_WORDS})\\S*`);

export type Refusal = 'unsubscribed' | 'bounced' | 'complained';

export type LeftByStatus = {
  readonly status: string;
  /** Null for a status such as "pending", which only the operator can judge. */
  readonly refusal: Refusal | null;
};

export type DroppedAnswer = {
  readonly id: string;
  readonly label: string;
  readonly reason: string;
};

const REASONS: FormMessages = {
  tooLong: 'more than {maximum} characters',
  notPlain: 'not plain text',
  telephone: 'not a valid telephone number',
  number: 'not a valid number, such as 1500',
  url: 'not a valid web address',
  choice: 'not one of the options',
  // An import cannot trigger these errors.
  choose: '',
  required: '',
  changed: '',
};

/**
 * @param options now: latest possible time of consent, milliseconds since 1970
 * @returns for an unusable row, a reason that continues "line 5"
 */
export function readPerson(
  cells: readonly string[],
  columns: Columns,
  { dateOrder, now, form, takenStatuses }: ReadOptions,
):
  | {
      readonly type: 'person';
      readonly person: FoundPerson;
      readonly droppedAnswers: readonly DroppedAnswer[];
      /** Statuses that the operator takes. */
      readonly taken: readonly LeftByStatus[];
    }
  | (LeftByStatus & { readonly type: 'unsubscribed'; readonly email: string })
  | {
      readonly type: 'bad';
      readonly reason: string;
      /** All e-mail addresses in the row, because each may belong to an unsubscribed person. */
      readonly emails: readonly string[];
    } {
  const bad = (reason: string) => ({ type: 'bad', reason, emails: cells.flatMap(addressesIn) }) as const;
  const cell = (field: Answer): string => cells[columns[field] ?? -1] ?? '';
  if (cells.length > columns.count)
    return bad(`has ${cells.length} columns, but the file has ${columns.count} headings`);
  const address = (cells[columns.email] ?? '').trim();
  if (address === '') return bad('has no e-mail address');
  if (address.length > EMAIL_MAX_LENGTH || asciiAddress(address) === null)
    return bad('has an invalid e-mail address');
  const email = normaliseEmail(address);
  const statuses = statusesLeftOutBy(cells, columns);
  const notTaken = statuses.filter(({ status }) => !takenStatuses.has(headingKey(status)));
  const left = notTaken.find(({ refusal }) => refusal !== null) ?? notTaken[0];
  if (left !== undefined) return { type: 'unsubscribed', email, ...left };
  const answers = {
    name: cell('name') || [cell('firstName'), cell('lastName')].filter(Boolean).join(' '),
    company: cell('company'),
  };
  for (const [what, text] of Object.entries(answers)) {
    if (text.length > NAME_MAX_LENGTH) return bad(`has a ${what} of more than ${NAME_MAX_LENGTH} characters`);
    const mark = notPlain(text);
    if (mark !== null) return bad(`has a ${what} ${mark}`);
  }
  const date = columns.consentTimes.map((place) => cells[place] ?? '').find((text) => text !== '') ?? '';
  const consentGivenAt = date === '' ? null : readDate(date, dateOrder);
  if (consentGivenAt === 'ambiguous') return bad('has an ambiguous date (use --date-order dmy or mdy)');
  if (consentGivenAt === 'none') return bad('has an invalid date of consent');
  if (consentGivenAt !== null && consentGivenAt > now) return bad('has a date of consent in the future');
  const own = ownAnswers(cells, columns, form);
  return {
    type: 'person',
    person: { email, ...answers, answers: own.answers, consentGivenAt },
    droppedAnswers: own.droppedAnswers,
    taken: statuses,
  };
}

function statusesLeftOutBy(cells: readonly string[], { statuses }: Columns): LeftByStatus[] {
  return statuses.flatMap(({ place, heading, kind }) =>
    (cells[place] ?? '')
      .split(kind === 'other' ? /[,;|]/ : ';')
      .map((part) => part.trim())
      .filter((text) => text !== '' && !isFine(kind, text))
      .map((text) => ({
        // Dates and reasons would identify individuals.
        status:
          kind === 'status' || kind === 'state' ? text : kind === 'left' ? heading : `${heading}: ${text}`,
        refusal: refusalIn(kind, heading, text),
      })),
  );
}

function refusalIn(kind: StatusColumn['kind'], heading: string, text: string): Refusal | null {
  if (kind === 'left') return refusalNamed(plainHeading(heading));
  const plain = plainHeading(text);
  if (kind === 'consent' && NO.has(headingKey(text)))
    return /opt in|confirmed/.test(plainHeading(heading)) ? null : 'unsubscribed';
  return LEFT_ANYWHERE.test(plain) && !NOT_YET.test(plain) ? refusalNamed(plain) : null;
}

function refusalNamed(plain: string): Refusal {
  if (/complain|spam|abuse/.test(plain)) return 'complained';
  return /bounce|\bclean|invalid|bad address|quarantine|mail disabled/.test(plain)
    ? 'bounced'
    : 'unsubscribed';
}

/** Returns why a person left, or null; a bounce counts least, because people can end it themselves. */
export function refusalOf(cells: readonly string[], columns: Columns): Refusal | null {
  const found = new Set(statusesLeftOutBy(cells, columns).map(({ refusal }) => refusal));
  return (['complained', 'unsubscribed', 'bounced'] as const).find((one) => found.has(one)) ?? null;
}

const isAboutStatus = (kind: StatusColumn['kind']): boolean => kind !== 'other' && kind !== 'state';

/** Whether a line of the file without a refusal belongs to a person who did not leave. */
export const saysWhoLeft = ({ statuses }: Columns): boolean =>
  statuses.some(({ kind }) => isAboutStatus(kind));

function isFine(kind: StatusColumn['kind'], text: string): boolean {
  const plain = plainHeading(text);
  const key = headingKey(text);
  switch (kind) {
    case 'status':
      return AGREED.has(key);
    case 'consent':
      return AGREED.has(key) || YES.has(key) || DATE.test(plain) || MAIL_CHANNEL.test(plain);
    case 'left':
      return NO.has(key) || ZERO.test(key) || OTHER_CHANNELS.test(plain) || key.startsWith('http');
    case 'state':
      return !LEFT_CELL.test(plain) && !UNSURE_STATES.has(key);
    case 'other':
      return !LEFT_CELL.test(plain);
  }
}

/** Later in a file's name, these words say how a list was cleaned. */
const CLEANED = / (?:cleaned|archived|deleted)\b|\b(?:without|ohne|sans) .*/g;

/** Mailchimp exports the people of each status as a file, such as `unsubscribed_members_export_3f2a.csv`. */
export function statusOfFile(name: string): LeftByStatus | null {
  const [word] = LEFT_ANYWHERE.exec(plainHeading(name).replaceAll(CLEANED, '')) ?? [];
  if (word === undefined) return null;
  return { status: `File name: ${word}`, refusal: NOT_YET.test(word) ? null : refusalNamed(word) };
}

export const isFileOfSubscribed = (name: string): boolean => /^subscribed\b/.test(plainHeading(name));

function notPlain(text: string): string | null {
  const mark = Array.from(text).find((one) => !isSingleLine(one));
  if (mark === undefined) return null;
  if (/[\n\v\f\r\u0085\u2028\u2029]/.test(mark)) return 'of more than one line';
  const point = mark.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  return `with an invisible control character (U+${point})`;
}

/** Matches lost letters (U+FFFD), and UTF-8 decoded as windows-1252 (Ã¼ for ü). */
const GARBLED = /\uFFFD|[ÂÃ][\u0080-\u00BF\u0152-\u0178\u02C6\u02DC\u2013-\u203A\u20AC\u2122]|â€/;

export const isGarbled = ({ name, company }: FoundPerson): boolean => GARBLED.test(`${name} ${company}`);

const BETWEEN_WORDS = /[\s<>()[\]:;,"']+/;

const addressesIn = (text: string): string[] =>
  text
    .split(BETWEEN_WORDS)
    .filter((word) => asciiAddress(word) !== null)
    .map(normaliseEmail);

function ownAnswers(
  cells: readonly string[],
  { own }: Columns,
  { fields }: OwnForm,
): { readonly answers: string | null; readonly droppedAnswers: readonly DroppedAnswer[] } {
  const answers: Record<string, TypedAnswers[string]> = {};
  const droppedAnswers: DroppedAnswer[] = [];
  for (const field of fields) {
    const { id, label, kind } = field;
    // Files from a Mac may use decomposed accents, which no option matches.
    const text = (cells[own[id] ?? -1] ?? '').trim().normalize('NFC');
    const checked = answerSchema({ ...field, required: false }, REASONS).safeParse(
      kind === 'choices' ? splitChoices(text) : text,
    );
    if (checked.success) answers[id] = checked.data;
    else droppedAnswers.push({ id, label, reason: checked.error.issues[0]!.message });
  }
  return { answers: storedAnswers(labelledAnswers(fields, answers)), droppedAnswers };
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
 * Reads 2024-03-04, 2024-03-04 10:20:30, 2024-03-04T10:20:30+01:00, 4.3.2024 or 3/4/2024; without a zone, as UTC.
 * @returns milliseconds since 1970; `ambiguous` if day and month could be swapped
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
  return Number.isNaN(ms) || readDay(date) === null ? 'none' : ms;
}

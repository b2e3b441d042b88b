// Reads one row of an imported file.
import type { FormMessages, OwnField } from '#shared/campaign-schema.ts';
import { headingKey } from '#shared/import-headings.ts';
import { asciiAddress, normaliseEmail, type LeadAnswers, type TypedAnswers } from '#shared/lead.ts';
import { EMAIL_MAX_LENGTH, NAME_MAX_LENGTH } from '#shared/lengths-and-resend.ts';
import { answerSchema, storedAnswers, labelledAnswers, splitChoices } from '#shared/own-fields.ts';
import { isSingleLine } from '#shared/typed-input.ts';
import type { AnswerField, Columns } from '#desk/import/find-columns.ts';
import { excludingStatuses, type ExcludingStatus } from '#desk/import/mail-status.ts';
import { readDate, type DateOrder } from '#desk/import/read-date.ts';
import { counted } from '#desk/printable.ts';

export type ReadOptions = {
  readonly dateOrder: DateOrder | undefined;
  /** The latest possible time of consent, milliseconds since 1970. */
  readonly now: number;
  readonly ownFields: readonly OwnField[];
  /** Results of {@link headingKey} for each --take-status. */
  readonly acceptedStatuses: ReadonlySet<string>;
};

export type FoundPerson = LeadAnswers & {
  /** Normalised like stored e-mail addresses. */
  readonly email: string;
  /** Milliseconds since 1970; null if unknown. */
  readonly consentGivenAt: number | null;
};

export type DroppedAnswer = {
  readonly id: string;
  readonly label: string;
  readonly reason: string;
};

export type ReadPerson =
  | {
      readonly type: 'person';
      readonly person: FoundPerson;
      readonly droppedAnswers: readonly DroppedAnswer[];
    }
  | (ExcludingStatus & { readonly type: 'unsubscribed'; readonly email: string })
  | {
      readonly type: 'bad';
      /** Continues "line 5". */
      readonly reason: string;
      /** All e-mail addresses in the row, because each may belong to an unsubscribed person. */
      readonly emails: readonly string[];
    };

export function readPerson(
  cells: readonly string[],
  columns: Columns,
  { dateOrder, now, ownFields, acceptedStatuses }: ReadOptions,
): ReadPerson {
  const bad = (reason: string) => ({ type: 'bad', reason, emails: cells.flatMap(addressesIn) }) as const;
  const cell = (field: AnswerField): string => cells[columns[field] ?? -1] ?? '';
  if (cells.length > columns.count)
    return bad(`has ${cells.length} columns, but the file has ${counted(columns.count, 'heading')}`);
  const address = (cells[columns.email] ?? '').trim();
  if (address === '') return bad('has no e-mail address');
  if (address.length > EMAIL_MAX_LENGTH || asciiAddress(address) === null)
    return bad('has an invalid e-mail address');
  const email = normaliseEmail(address);
  const excluding = excludingStatuses(cells, columns).filter(
    ({ status }) => !acceptedStatuses.has(headingKey(status)),
  );
  const excludingStatus = excluding.find(({ refusal }) => refusal !== null) ?? excluding[0];
  if (excludingStatus !== undefined) return { type: 'unsubscribed', email, ...excludingStatus };
  const answers = {
    name: fullNameOf(cell('name'), cell('firstName'), cell('lastName'), columns),
    company: cell('company'),
  };
  for (const [field, text] of Object.entries(answers)) {
    if (text.length > NAME_MAX_LENGTH)
      return bad(`has a ${field} of more than ${NAME_MAX_LENGTH} characters`);
    if (!isSingleLine(text)) return bad(`has a ${field} with line breaks or control characters`);
  }
  const date =
    columns.consentTimes.map((index) => cells[index] ?? '').find((text) => !NO_DATE.test(text)) ?? '';
  const consentGivenAt = date === '' ? null : readDate(date, dateOrder);
  if (consentGivenAt === 'ambiguous') return bad('has an ambiguous date (use --date-order dmy or mdy)');
  if (consentGivenAt === 'invalid') return bad('has an invalid date of consent');
  if (consentGivenAt !== null && consentGivenAt > now) return bad('has a date of consent in the future');
  const custom = ownAnswers(cells, columns, ownFields);
  return {
    type: 'person',
    person: { email, ...answers, answers: custom.answers, consentGivenAt },
    droppedAnswers: custom.droppedAnswers,
  };
}

/** Joins the parts of a name, unless the column "Name" already contains the other part. */
function fullNameOf(name: string, first: string, last: string, { isNamePart }: Columns): string {
  const isWhole = !isNamePart || ` ${name} `.toLowerCase().includes(` ${first || last} `.toLowerCase());
  return name !== '' && isWhole ? name : [first, name, last].filter(Boolean).join(' ');
}

/** Empty, or as MySQL exports a missing date. */
const NO_DATE = /^(?:0000-00-00(?:[ T]00:00:00)?)?$/;

/** Such as the angle brackets and colon of "mailto:ada@example.com" and "Ada <ada@example.com>". */
const BETWEEN_WORDS = /[\s<>()[\]:;,"']+/;

const addressesIn = (text: string): string[] =>
  text
    .split(BETWEEN_WORDS)
    .filter((word) => asciiAddress(word) !== null)
    .map(normaliseEmail);

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

function ownAnswers(
  cells: readonly string[],
  { own }: Columns,
  ownFields: readonly OwnField[],
): { readonly answers: string | null; readonly droppedAnswers: readonly DroppedAnswer[] } {
  const answers: Record<string, TypedAnswers[string]> = {};
  const droppedAnswers: DroppedAnswer[] = [];
  for (const field of ownFields) {
    const { id, label, kind } = field;
    // Files from a Mac may use decomposed accents, which no option matches.
    const text = (cells[own[id] ?? -1] ?? '').trim().normalize('NFC');
    const checked = answerSchema({ ...field, required: false }, REASONS).safeParse(
      kind === 'choices' ? splitChoices(text) : text,
    );
    if (checked.success) answers[id] = checked.data;
    else droppedAnswers.push({ id, label, reason: checked.error.issues[0]!.message });
  }
  return { answers: storedAnswers(labelledAnswers(ownFields, answers)), droppedAnswers };
}

/** Matches lost letters (U+FFFD), and UTF-8 decoded as windows-1252 (Ã¼ for ü). */
const GARBLED = /\uFFFD|[ÂÃ][\u0080-\u00BF\u0152-\u0178\u02C6\u02DC\u2013-\u203A\u20AC\u2122]|â€/;

export const isGarbled = ({ name, company }: FoundPerson): boolean => GARBLED.test(`${name} ${company}`);

// Finds the columns of an imported file by their headings.
import type { OwnField } from '#shared/campaign-schema.ts';
import { TOUCH_NAMES } from '#shared/funnel.ts';
import {
  headingKey,
  IMPORT_HEADINGS,
  isAboutMail,
  isImportHeading,
  keysOf,
  plainHeading,
  statusKind,
  type StatusKind,
} from '#shared/import-headings.ts';
import { TOOL_NAMES, TOOLS } from '#shared/tools.ts';

type Field = keyof typeof IMPORT_HEADINGS;
export type AnswerField = Exclude<Field, 'email' | 'consentGivenAt'>;
const ANSWER_FIELDS: readonly AnswerField[] = ['name', 'firstName', 'lastName', 'company'];

/** All numbers except `count` are column indexes, from 0. */
export type Columns = Readonly<Partial<Record<AnswerField, number>>> & {
  readonly email: number;
  /** "Name" next to "Last name" means the first name, and next to "Vorname" the last name, unless it contains the other part. */
  readonly isNamePart: boolean;
  /** The first column with a time counts. */
  readonly consentTimes: readonly number[];
  readonly count: number;
  /** Answers to custom questions, by ID. */
  readonly own: Readonly<Record<string, number>>;
  readonly statuses: readonly StatusColumn[];
};

export type StatusColumn = {
  readonly index: number;
  readonly heading: string;
  /**
   * The first three are described at {@link StatusKind}. `state`: of a subscription or a country. `other`: any other subject, where
   * a word such as "unsubscribed" may occur.
   */
  readonly kind: StatusKind | 'state' | 'other';
};

export type Headings = Readonly<Record<'used' | 'unused', readonly string[]>>;

/** @param ownFields a column's heading may be the ID, label or CRM property of a custom question */
export function findColumns(
  headings: readonly string[],
  ownFields: readonly OwnField[],
): ({ readonly columns: Columns } & Headings) | null {
  const keys = headings.map(headingKey);
  const indexesOf = (field: Field) =>
    IMPORT_HEADINGS[field].map((name) => keys.indexOf(headingKey(name))).filter((index) => index >= 0);
  const [email] = indexesOf('email');
  if (email === undefined) return null;
  const consentTimes = indexesOf('consentGivenAt');
  const answers = ANSWER_FIELDS.flatMap((field) =>
    indexesOf(field)
      .slice(0, 1)
      .map((index) => [field, index] as const),
  );
  const columnOf = new Map(answers);
  const isNamePart =
    keys[columnOf.get('name') ?? -1] === 'name' && columnOf.has('firstName') !== columnOf.has('lastName');
  const used = new Set([email, ...consentTimes, ...answers.map(([, index]) => index)]);
  const own = ownFields.flatMap(
    ({ id, label, properties = {} }): (readonly [id: string, index: number])[] => {
      // A status column remains a status column even if a question is mapped to it.
      const propertyNames = Object.values(properties).flatMap((name = '') =>
        isImportHeading(name) ? [] : [name],
      );
      // The ID first, because our exports have columns that a label may repeat, such as "source".
      const index = Array.from(keysOf([id, label, ...propertyNames]), (name) =>
        keys.findIndex((key, at) => !used.has(at) && key === name),
      ).find((at) => at >= 0);
      return index === undefined ? [] : [[id, index]];
    },
  );
  for (const [, index] of own) used.add(index);
  const statuses = headings.flatMap((heading, index): StatusColumn[] => {
    if (!isAboutMail(heading)) return [];
    const kind = statusKind(heading) ?? (headingKey(heading) === 'state' ? 'state' : 'other');
    // A question may also be called "State".
    if (used.has(index) && kind !== 'state') return [];
    return kind === 'other' && isFromVisitors(heading, index, headings) ? [] : [{ index, heading, kind }];
  });
  for (const status of statuses) if (isAboutPermission(status)) used.add(status.index);
  return {
    columns: {
      email,
      isNamePart,
      consentTimes,
      ...Object.fromEntries(answers),
      count: headings.length,
      own: Object.fromEntries(own),
      statuses,
    },
    used: [...used].map((index) => headings[index]!),
    unused: headings.filter((heading, index) => heading !== '' && !used.has(index)),
  };
}

/** Such as `source` or `utm_campaign`. */
const TOUCH_COLUMN = new RegExp(`(?:^| )(?:source|${TOUCH_NAMES.map(plainHeading).join('|')})$`);

/** Our exports repeat links and answers, and a stranger can write "unsubscribed" in both. */
function isFromVisitors(heading: string, index: number, headings: readonly string[]): boolean {
  const plain = plainHeading(heading);
  if (TOUCH_COLUMN.test(plain) || plain === 'earlier answers') return true;
  return TOOL_NAMES.some((tool) => {
    const ours = Object.keys(TOOLS[tool].columns);
    return index < ours.length && ours.every((name, at) => name === headings[at]);
  });
}

const isAboutPermission = ({ kind }: StatusColumn): boolean => kind !== 'other' && kind !== 'state';

/** Returns true if a column distinguishes people who opted out. */
export const hasOptOutColumn = ({ statuses }: Columns): boolean => statuses.some(isAboutPermission);

// Which people a filter lets through: as far as SQL can judge, and then letter by letter.
import { domainToUnicode } from 'node:url';

import { sql, type RawBuilder } from 'kysely';

import type { LeadFilter, LeadRecord } from '#server/db/contacts/person.ts';
import { answerText, readAnswers } from '#shared/own-answers.ts';

/** Whether a filter may let few people through, so that a statement without an end would look at all of a long table. */
export const isNarrow = ({
  search,
  missingIn,
  exportedIn,
  flag,
  domain,
  answer,
  attributionHolds,
}: LeadFilter): boolean =>
  [search, missingIn, exportedIn, flag, domain, answer, attributionHolds].some((part) => part !== undefined);

/** What has to be looked at more closely than SQL can; null: nothing. */
export function closeLook({ search, answer }: LeadFilter): ((person: LeadRecord) => boolean) | null {
  if (search === undefined && answer === undefined) return null;
  const holds = search === undefined ? () => true : holdsText(search);
  const answers = answer === undefined ? () => true : hasAnswered(answer);
  return (person) => holds(person) && answers(person);
}

/** The parts of a filter that every table of people has the columns for, as far as SQL can judge them. */
export function mayBeWanted(
  table: 'l' | 's' | 'i',
  { search, domain, answer, attributionHolds }: LeadFilter,
): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  const parts = [
    ...(search === undefined
      ? []
      : [
          sql`(${sql.join(
            [
              ...['email', 'name', 'company'].map((name) => mayHold(column(name), search)),
              // The domain in its own letters may hold it.
              sql`${column('email')} like '%xn--%'`,
            ],
            sql` or `,
          )})`,
        ]),
    ...(domain === undefined ? [] : [sql`${column('email')} like ${`%@${literally(domain)}`} escape '\\'`]),
    // As JSON has it: its quotation marks and line ends are escaped.
    ...(answer === undefined ? [] : [mayHold(column('answers'), JSON.stringify(answer.text).slice(1, -1))]),
    ...(attributionHolds === undefined
      ? []
      : [
          sql`(${sql.join(
            attributionHolds.map((text) => mayHold(column('attribution'), text)),
            sql` or `,
          )})`,
        ]),
  ];
  return parts.length === 0 ? sql<boolean>`1 = 1` : sql<boolean>`${sql.join(parts, sql` and `)}`;
}

/** Without regard to capital letters: ß and SS are one, and so are the four i of Turkish. */
const folded = (text: string): string =>
  text.normalize('NFC').toLowerCase().toUpperCase().replaceAll('I\u0307', 'I');

/** An address as it is stored, and with its domain in its own letters. */
function spellings(email: string): readonly string[] {
  const at = email.lastIndexOf('@') + 1;
  return email.includes('xn--') ? [email, email.slice(0, at) + domainToUnicode(email.slice(at))] : [email];
}

/** Whether address, name or company of a person hold a text, in capital or small letters. */
function holdsText(text: string): (person: Pick<LeadRecord, 'email' | 'name' | 'company'>) => boolean {
  const wanted = folded(text);
  return ({ email, name, company }) =>
    [...spellings(email), name, company].some((value) => folded(value).includes(wanted));
}

/** Whether a person's answer to a question holds a text. */
function hasAnswered({ field, text }: NonNullable<LeadFilter['answer']>): (person: LeadRecord) => boolean {
  const wanted = folded(text);
  return ({ answers }) => folded(answerText(readAnswers(answers)[field]?.answer)).includes(wanted);
}

/** A text as it stands in a pattern of LIKE, with \ before what would stand for anything. */
const literally = (text: string): string => text.replaceAll(/[%_\\]/g, '\\$&');

/**
 * Whether a column may hold a text. SQLite knows the small letters of ASCII alone, and PostgreSQL those of its locale, so any other
 * letter that has a small or an accented form stands for anything here, and so do i and ss; closeLook then looks closely.
 */
function mayHold(column: RawBuilder<unknown>, text: string): RawBuilder<boolean> {
  const letters = (text.normalize('NFC').match(/ss|[^]/giu) ?? []).map((letter) => {
    if (/^[a-hj-z]$/i.test(letter)) return letter.toLowerCase();
    const isPlain = letter.toLowerCase() === letter.toUpperCase() && letter.normalize('NFD') === letter;
    return isPlain ? literally(letter) : '%';
  });
  return sql<boolean>`lower(${column}) like ${`%${letters.join('')}%`} escape '\\'`;
}

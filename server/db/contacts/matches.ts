// Filters contacts in SQL as far as possible, then character by character.
import { domainToUnicode } from 'node:url';

import { sql, type RawBuilder } from 'kysely';

import type { LeadFilter, LeadRecord } from '#server/db/contacts/person.ts';
import { answerText, readAnswers } from '#shared/own-fields.ts';

/** Few rows may match, so an unlimited statement would scan a long table. */
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

/** The part that SQL cannot judge. */
export function closeLook({ search, answer }: LeadFilter): ((person: LeadRecord) => boolean) | null {
  if (search === undefined && answer === undefined) return null;
  const holds = search === undefined ? () => true : holdsText(search);
  const answers = answer === undefined ? () => true : hasAnswered(answer);
  return (person) => holds(person) && answers(person);
}

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
              // The decoded domain may contain it.
              sql`${column('email')} like '%xn--%'`,
            ],
            sql` or `,
          )})`,
        ]),
    ...(domain === undefined ? [] : [sql`${column('email')} like ${`%@${literally(domain)}`} escape '\\'`]),
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

/** Case folding: ß equals SS, and the four i of Turkish are equal. */
const folded = (text: string): string =>
  text.normalize('NFC').toLowerCase().toUpperCase().replaceAll('I\u0307', 'I');

function spellings(email: string): readonly string[] {
  const at = email.lastIndexOf('@') + 1;
  return email.includes('xn--') ? [email, email.slice(0, at) + domainToUnicode(email.slice(at))] : [email];
}

function holdsText(text: string): (person: Pick<LeadRecord, 'email' | 'name' | 'company'>) => boolean {
  const wanted = folded(text);
  return ({ email, name, company }) =>
    [...spellings(email), name, company].some((value) => folded(value).includes(wanted));
}

function hasAnswered({ field, text }: NonNullable<LeadFilter['answer']>): (person: LeadRecord) => boolean {
  const wanted = folded(text);
  return ({ answers }) => folded(answerText(readAnswers(answers)[field]?.answer)).includes(wanted);
}

const literally = (text: string): string => text.replaceAll(/[%_\\]/g, '\\$&');

/**
 * SQLite knows only ASCII case, PostgreSQL its locale's. So other cased or accented letters, i and ss match anything here, and
 * closeLook decides.
 */
function mayHold(column: RawBuilder<unknown>, text: string): RawBuilder<boolean> {
  const letters = (text.normalize('NFC').match(/ss|[^]/giu) ?? []).map((letter) => {
    if (/^[a-hj-z]$/i.test(letter)) return letter.toLowerCase();
    const isPlain = letter.toLowerCase() === letter.toUpperCase() && letter.normalize('NFD') === letter;
    return isPlain ? literally(letter) : '%';
  });
  return sql<boolean>`lower(${column}) like ${`%${letters.join('')}%`} escape '\\'`;
}

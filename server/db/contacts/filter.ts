import { domainToUnicode } from 'node:url';

import { sql, type RawBuilder } from 'kysely';

import type { ExportRun } from '#server/db/queries/export-history.ts';
import type { LeadAnswers } from '#shared/lead.ts';
import { displayedAnswer, readAnswers } from '#shared/own-fields.ts';

/**
 * `verified`: verified by this site and not suppressed. `suppressed`: verified, but gets no mail. `unverified`: no code
 * entered yet. `imported`: from another tool.
 */
export const CONTACT_STATES = ['verified', 'suppressed', 'unverified', 'imported'] as const;
export type ContactState = (typeof CONTACT_STATES)[number];

export type ContactRecord = LeadAnswers & {
  readonly id: string;
  readonly email: string;
  readonly state: ContactState;
  readonly state_since: number;
  readonly first_verified_at: number | null;
  readonly last_verified_at: number | null;
  readonly first_read_at: number | null;
  readonly attribution: string | null;
  readonly flags: string;
  readonly variant: string | null;
  readonly consent_given_at: number | null;
  readonly consent_version: string | null;
  readonly consent_text: string | null;
  readonly consent_source: string | null;
  /** Null if the person never ticked the box for news, or has unsubscribed since. */
  readonly news_consent_given_at: number | null;
  readonly news_consent_version: string | null;
  readonly news_consent_text: string | null;
};

export type ContactFilter = {
  /** Milliseconds since 1970, inclusive. */
  readonly since?: number | undefined;
  /** Milliseconds since 1970, exclusive. */
  readonly until?: number | undefined;
  readonly flag?: string | undefined;
  /** Only people who agreed to get news. */
  readonly news?: true | undefined;
  readonly missingIn?: string | undefined;
  readonly exportedIn?: ExportRun | undefined;
  readonly search?: string | undefined;
  /** In lower case and ASCII. */
  readonly domain?: string | undefined;
  readonly answer?: { readonly field: string; readonly text: string } | undefined;
  /** The attribution contains at least one of these texts, ignoring case. */
  readonly attributionContains?: readonly string[] | undefined;
  readonly newestFirst?: boolean | undefined;
};

/** Filters that may match all rows of a table. */
const BROAD = new Set(['since', 'until', 'newestFirst', 'missingIn', 'exportedIn']);

/** Few rows may match, so an unlimited statement would scan a long table. */
export const isNarrow = (filter: ContactFilter): boolean =>
  Object.entries(filter).some(([name, value]) => value !== undefined && !BROAD.has(name));

/** Returns a function that checks what SQL cannot. */
export function exactCheck({ search, answer }: ContactFilter): (person: ContactRecord) => boolean {
  const matchesSearch = search === undefined ? () => true : containsText(search);
  const matchesAnswer = answer === undefined ? () => true : hasAnswered(answer);
  return (person) => matchesSearch(person) && matchesAnswer(person);
}

/** Returns conditions for the alias `person`. They may also match unwanted people, whom {@link exactCheck} removes. */
export function sqlConditions(filter: ContactFilter): readonly RawBuilder<unknown>[] {
  const { flag, search, domain, answer, attributionContains } = filter;
  const column = (name: string) => sql.ref(`person.${name}`);
  const anyOf = (parts: readonly RawBuilder<unknown>[]) => sql`(${sql.join(parts, sql` or `)})`;
  const searched = (text: string) =>
    anyOf([
      ...['email', 'name', 'company'].map((name) => mayContain(column(name), text)),
      sql`${column('email')} like '%xn--%'`,
    ]);
  return [
    flag !== undefined && sql`' ' || ${column('flags')} || ' ' like ${`% ${flag} %`}`,
    search !== undefined && searched(search),
    domain !== undefined && sql`${column('email')} like ${`%@${escapeLike(domain)}`} escape '\\'`,
    ...(answer === undefined
      ? []
      : jsonPartsOf(answer.text).map((part) => mayContain(column('answers'), part))),
    attributionContains !== undefined &&
      anyOf(attributionContains.map((text) => mayContain(column('attribution'), text))),
  ].filter((part) => part !== false);
}

/** Folds case, so ß equals SS and the four forms of the Turkish i are equal. */
const foldCase = (text: string): string =>
  text.normalize('NFC').toLowerCase().toUpperCase().replaceAll('I\u0307', 'I');

function spellings(email: string): readonly string[] {
  const at = email.lastIndexOf('@') + 1;
  return email.includes('xn--') ? [email, email.slice(0, at) + domainToUnicode(email.slice(at))] : [email];
}

function containsText(text: string): (person: Pick<ContactRecord, 'email' | 'name' | 'company'>) => boolean {
  const wanted = foldCase(text);
  return ({ email, name, company }) =>
    [...spellings(email), name, company].some((value) => foldCase(value).includes(wanted));
}

function hasAnswered({
  field,
  text,
}: NonNullable<ContactFilter['answer']>): (person: ContactRecord) => boolean {
  const wanted = foldCase(text);
  return ({ answers }) => foldCase(displayedAnswer(readAnswers(answers)[field]?.answer)).includes(wanted);
}

/** The parts as stored in JSON, which separates the options of one answer (see displayedAnswer). */
const jsonPartsOf = (text: string): readonly string[] =>
  text.split(';').map((part) => JSON.stringify(part.trim()).slice(1, -1));

const escapeLike = (text: string): string => text.replaceAll(/[%_\\]/g, '\\$&');

/**
 * Letters that may fold differently match anything here, and exactCheck decides. SQLite lowers only ASCII letters, and PostgreSQL
 * depends on its locale.
 */
function mayContain(column: RawBuilder<unknown>, text: string): RawBuilder<boolean> {
  const letters = (text.normalize('NFC').match(/ss|[^]/giu) ?? []).map((letter) => {
    if (/^[a-hj-z]$/i.test(letter)) return letter.toLowerCase();
    const isPlain = letter.toLowerCase() === letter.toUpperCase() && letter.normalize('NFD') === letter;
    return isPlain ? escapeLike(letter) : '%';
  });
  return sql<boolean>`lower(${column}) like ${`%${letters.join('')}%`} escape '\\'`;
}

// Reads lists of contacts in short statements, so writers never wait for a long one. A slice is a range of a table's IDs, read by
// one statement; a page contains the slice's contacts that match the filter.
import { sql, type RawBuilder } from 'kysely';

import {
  exactCheck,
  isNarrow,
  sqlConditions,
  type ContactFilter,
  type ContactRecord,
  type ContactState,
} from '#server/db/contacts/filter.ts';
import type { ConsentPurpose } from '#server/db/all-tables.ts';
import { isOnPostgres, type Db } from '#server/db/engine/connect.ts';
import { idsBetween } from '#server/db/engine/ids.ts';
import {
  searchBackwards,
  SLICE_SIZE,
  slicesBackwards,
  slicesOf,
  type SearchPage,
  type Slice,
} from '#server/db/engine/page-through-table.ts';
import { countRows, hasRow } from '#server/db/engine/row-counts.ts';
import type { ExportRun } from '#server/db/queries/export-history.ts';
import { asciiAddress, normaliseEmail } from '#shared/lead.ts';

/**
 * For lists that may contain nearly all rows of a slice (not suppressed leads), because V8 soon frees small pages. With 200
 * contacts per page, an export needs 10 MB more memory and takes as long; with 5,000, it needs 200 MB more.
 */
const SMALL_SLICE_SIZE = 100;

/**
 * Lists contacts by the time of their row, oldest first unless the filter says otherwise.
 * @returns pages with at least one contact
 */
export async function* contactPages(
  db: Db,
  state: ContactState,
  typedFilter: ContactFilter,
): AsyncGenerator<readonly ContactRecord[], void, void> {
  const filter = withNormalisedEmail(typedFilter);
  const { since, until, newestFirst = false } = filter;
  const { table } = STATES[state];
  const range = idsBetween(since, until);
  // A narrow filter leaves few contacts of a slice, so larger slices save statements.
  const size = state !== 'suppressed' && !isNarrow(filter) ? SMALL_SLICE_SIZE : SLICE_SIZE;
  const slices = newestFirst
    ? slicesBackwards(db, table, range, null, size)
    : slicesOf(db, table, range, size);
  for await (const slice of slices) {
    const page = await readContacts(db, state, filter, isIn(slice));
    if (page.length > 0) yield newestFirst ? page.toReversed() : page;
  }
}

/**
 * Searches from the newest contact for a limited time, so a page can be short or empty.
 * @param options cursor: `next` of the previous page; null for the first
 * @returns next: all contacts with higher IDs were checked; null after the last page
 */
export async function searchContacts(
  db: Db,
  state: ContactState,
  typedFilter: ContactFilter,
  options: {
    readonly cursor: string | null;
    readonly isWanted?: (contact: ContactRecord) => boolean;
    readonly limit: number;
    readonly timeLimitMs: number;
  },
): Promise<SearchPage<ContactRecord>> {
  const { cursor, isWanted = () => true, ...limits } = options;
  const filter = withNormalisedEmail(typedFilter);
  const read = async (where: RawBuilder<unknown>) =>
    (await readContacts(db, state, filter, where)).filter(isWanted).toReversed();
  const wholeEmail = searchedEmail(filter.search);
  // Found by the index, because the search may run out of time before it reaches these rows.
  const exactMatches = wholeEmail === null || cursor !== null ? [] : await read(hasEmail(wholeEmail));
  const { found, next } = await searchBackwards(
    db,
    STATES[state].table,
    idsBetween(filter.since, filter.until),
    cursor,
    async (slice) => {
      const rows = await read(isIn(slice));
      return wholeEmail === null ? rows : rows.filter(({ email }) => email !== wholeEmail);
    },
    limits,
  );
  return { found: [...exactMatches, ...found], next };
}

/** With more suppressions, looking up each of them would take too long. */
const MAX_SUPPRESSIONS = 10_000;

/**
 * Counts leads, considering only the filter's time.
 * @returns atMost: all leads, including suppressed ones; verified: without them, or null if counting them would take long
 */
export async function countVerified(
  db: Db,
  { since, until }: ContactFilter,
): Promise<{ readonly atMost: number; readonly verified: number | null }> {
  const { begin, end } = idsBetween(since, until);
  const leads = db
    .selectFrom('leads')
    .where('id', '>', begin)
    .$if(end !== null, (query) => query.where('id', '<', end!));
  const atMost = await countRows(leads);
  if (await hasRow(db.selectFrom('suppressions').select('email').offset(MAX_SUPPRESSIONS)))
    return { atMost, verified: null };
  const suppressed = await countRows(
    leads.where('email', 'in', (from) =>
      from.selectFrom('suppressions').select('email').where('email', 'is not', null),
    ),
  );
  return { atMost, verified: atMost - suppressed };
}

export const hasCustomAnswers = (db: Db, state: ContactState): Promise<boolean> =>
  hasAny(db, state, 'answers');

export const hasVariants = async (db: Db, state: ContactState): Promise<boolean> =>
  state !== 'imported' && hasAny(db, state, 'variant');

export const hasNewsConsents = (db: Db): Promise<boolean> =>
  hasRow(
    db
      .selectFrom('consent_receipts')
      .select('id')
      // As a parameter, the value would not match the condition of the partial index.
      .where(sql<boolean>`purpose = 'news'`),
  );

/**
 * emailOfContact and idsOfContacts search in this order. Of several submissions without a lead, idsOfContacts returns the oldest,
 * the lists show the newest, and emailOfContact finds both.
 */
const CONTACT_TABLES = ['leads', 'imported_leads', 'submissions'] as const;

export async function emailOfContact(db: Db, id: string): Promise<string | undefined> {
  for (const table of CONTACT_TABLES) {
    const row = await db.selectFrom(table).select('email').where('id', '=', id).executeTakeFirst();
    if (row !== undefined) return row.email;
  }
  return undefined;
}

export async function idsOfContacts(db: Db, emails: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  for (const table of CONTACT_TABLES) {
    const left = emails.filter((email) => !ids.has(email));
    if (left.length === 0) break;
    const rows = await db
      .selectFrom(table)
      .select((eb) => ['email', eb.fn.min('id').as('id')])
      .where('email', 'in', left)
      .groupBy('email')
      .execute();
    for (const { email, id } of rows) ids.set(email, id);
  }
  return ids;
}

/** @returns the contact in the first matching state, even if suppressed */
export async function findContact(db: Db, email: string): Promise<ContactRecord | undefined> {
  for (const state of STATES_IN_ORDER) {
    const [contact] = await readContacts(db, state, {}, hasEmail(email), { evenSuppressed: true });
    if (contact !== undefined) return contact;
  }
  return undefined;
}

/** Most informative first. An imported person who asks for a code is in two lists, and counts as imported here. */
const STATES_IN_ORDER = [
  'verified',
  'suppressed',
  'imported',
  'unverified',
] as const satisfies readonly ContactState[];

/** Locks the lead's row until the transaction ends. SQLite has only one writer anyway. */
export async function lockLeadRecord(
  tx: Db,
  id: string,
): Promise<Omit<ContactRecord, 'state' | 'state_since'> | undefined> {
  const { rows } = await sql<ContactRecord>`
    select ${COMMON}, ${LEADS.columns} from ${LEADS.from} where ${sql.ref('person.id')} = ${id}
    ${isOnPostgres(tx) ? sql`for update of ${sql.ref('person')}` : sql``}
  `.execute(tx);
  return rows[0];
}

async function hasAny(db: Db, state: ContactState, column: 'answers' | 'variant'): Promise<boolean> {
  const { rows } = await sql`
    select 1 from ${sql.table(STATES[state].table)} where ${sql.ref(column)} is not null limit 1
  `.execute(db);
  return rows.length > 0;
}

/** Returns null unless the search text is a whole e-mail address. */
const searchedEmail = (search: string | undefined): string | null =>
  search === undefined || asciiAddress(search.trim()) === null ? null : normaliseEmail(search);

const withNormalisedEmail = (filter: ContactFilter): ContactFilter => {
  const email = searchedEmail(filter.search);
  return email === null ? filter : { ...filter, search: email };
};

const isIn = ({ after, last }: Slice) =>
  sql`(${sql.ref('person.id')} > ${after} and ${sql.ref('person.id')} <= ${last})`;

const hasEmail = (email: string) => sql`${sql.ref('person.email')} = ${email}`;

// `person` is a row of the list's table. Related rows are found by subqueries for each person. With plain joins, PostgreSQL would
// read all of a long table for each small page. It turns `exists` into a join, too, but not `(select …) is not null`.

const isSuppressed = sql`(select 1 from suppressions where suppressions.email = person.email limit 1) is not null`;

const newestReceipt = (purpose: ConsentPurpose, andClause = sql``) => sql`(
  select receipt.id from consent_receipts receipt
  where receipt.lead_id = person.id and receipt.purpose = ${sql.lit(purpose)} ${andClause}
  order by receipt.id desc limit 1
)`;

/**
 * For a `receipt`. A withdrawal ends all consents verified before it, unless an operator added it and then removed the suppression
 * as a mistake.
 */
const andNotWithdrawn = sql`and not exists (
  select 1 from withdrawals withdrawal
  where withdrawal.lead_id = receipt.lead_id and withdrawal.withdrawn_at >= receipt.verified_at and not (
    withdrawal.way = 'by-hand' and exists (
      select 1 from suppression_removals removal
      where removal.lead_id = withdrawal.lead_id and removal.removed_at >= withdrawal.withdrawn_at
        and removal.reasons like '%unsubscribed%'
    )
  )
)`;

/** 1 or 0, for a row of `leads`. */
export const agreedToNews: RawBuilder<number> = sql`case when exists (
  select 1 from consent_receipts receipt
  where receipt.lead_id = leads.id and receipt.purpose = 'news' ${andNotWithdrawn}
) then 1 else 0 end`;

const LEADS = {
  table: 'leads',
  timeColumn: 'first_verified_at',
  from: sql`leads person
    left join consent_receipts guide on guide.id = ${newestReceipt('guide')}
    left join consent_wordings guide_wording on guide_wording.version = guide.consent_version
    left join consent_receipts news on news.id = ${newestReceipt('news', andNotWithdrawn)}
    left join consent_wordings news_wording on news_wording.version = news.consent_version`,
  columns: sql`person.first_verified_at, person.last_verified_at, person.first_read_at,
    person.attribution, person.flags, person.variant,
    guide.given_at as consent_given_at, guide.consent_version, guide_wording.text as consent_text, null as consent_source,
    news.given_at as news_consent_given_at, news.consent_version as news_consent_version,
    news_wording.text as news_consent_text`,
} as const;

const NO_NEWS = sql`null as news_consent_given_at, null as news_consent_version, null as news_consent_text`;

const exportOf = (name: string, andClause = sql``) => sql`(
  select 1 from exported_leads exported
  where exported.lead_id = person.id and exported.export_name = ${name} ${andClause}
)`;

const isExportedIn = ({ name, at }: ExportRun) =>
  sql`${exportOf(name, sql`and exported.exported_at = ${at}`)} is not null`;

const COMMON = sql`person.id, person.email, person.name, person.company, person.answers`;

type ContactsOfState = {
  readonly table: 'leads' | 'submissions' | 'imported_leads';
  /** Column with the time of the row, which its ID contains. */
  readonly timeColumn: string;
  readonly from: RawBuilder<unknown>;
  /** Columns that not all of the tables have. */
  readonly columns: RawBuilder<unknown>;
  readonly isInState: RawBuilder<unknown>;
};

const STATES: Readonly<Record<ContactState, ContactsOfState>> = {
  verified: { ...LEADS, isInState: sql`not (${isSuppressed})` },
  // Also listed by the time of verification, because pages follow the IDs of leads.
  suppressed: { ...LEADS, isInState: isSuppressed },
  unverified: {
    table: 'submissions',
    timeColumn: 'created_at',
    from: sql`submissions person`,
    columns: sql`null as first_verified_at, null as last_verified_at, null as first_read_at,
      person.attribution, person.flags, person.variant,
      null as consent_given_at, null as consent_version, null as consent_text, null as consent_source, ${NO_NEWS}`,
    isInState: sql`(select lead.id from leads lead where lead.email = person.email) is null and person.id = (
      select newest.id from submissions newest where newest.email = person.email
      order by newest.created_at desc, newest.id desc limit 1
    )`,
  },
  imported: {
    table: 'imported_leads',
    timeColumn: 'imported_at',
    from: sql`imported_leads person`,
    columns: sql`null as first_verified_at, null as last_verified_at, null as first_read_at, null as attribution, '' as flags,
      null as variant, person.consent_given_at, null as consent_version, null as consent_text, person.consent_source,
      ${NO_NEWS}`,
    isInState: sql`(select lead.id from leads lead where lead.email = person.email) is null`,
  },
};

async function readContacts(
  db: Db,
  state: ContactState,
  filter: ContactFilter,
  where: RawBuilder<unknown>,
  { evenSuppressed = false }: { readonly evenSuppressed?: boolean } = {},
): Promise<readonly ContactRecord[]> {
  const { table, timeColumn, from, columns, isInState } = STATES[state];
  const { since, until, flag, news, missingIn, exportedIn, attributionContains } = filter;
  // Imported people have neither flags nor a source, and only leads have agreed to news.
  if (table === 'imported_leads' && (flag !== undefined || attributionContains !== undefined)) return [];
  if (table !== 'leads' && news !== undefined) return [];
  const at = sql.ref(`person.${timeColumn}`);
  const conditions = [
    where,
    isInState,
    // Suppressed leads have their own state, and unverified people get nothing but requested codes anyway.
    ...(state === 'imported' && !evenSuppressed ? [sql`not (${isSuppressed})`] : []),
    ...(since === undefined ? [] : [sql`${at} >= ${since}`]),
    ...(until === undefined ? [] : [sql`${at} < ${until}`]),
    // Exports record only leads.
    ...(table === 'leads' && missingIn !== undefined ? [sql`${exportOf(missingIn)} is null`] : []),
    ...(table === 'leads' && exportedIn !== undefined ? [isExportedIn(exportedIn)] : []),
    ...(news === undefined ? [] : [sql`news.id is not null`]),
    ...sqlConditions(filter),
  ];
  const { rows } = await sql<ContactRecord>`
    select ${COMMON}, ${sql.lit(state)} as state, ${at} as state_since, ${columns} from ${from}
    where ${sql.join(conditions, sql` and `)} order by ${sql.ref('person.id')}
  `.execute(db);
  // The conditions in SQL may match too much.
  return rows.filter(exactCheck(filter));
}

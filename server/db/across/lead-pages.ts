// Leads, and people who are none yet, read a page at a time, so that no writer waits for a long statement.
import { sql, type RawBuilder } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import type { ExportRun } from '#server/db/across/export-history.ts';
import { lowestIdAt } from '#server/db/engine/ids.ts';
import { pagesAfter, slicesOf } from '#server/db/engine/page-through-table.ts';
import { statement, type Value } from '#server/db/engine/statement.ts';
import { answersOf, type LeadAnswers } from '#shared/lead.ts';

/** The states of an address, with what reads the people in it. A new state is an entry here. */
const READERS = {
  /** Verified by this page, and not suppressed. */
  verified: (db: Db, filter: LeadFilter) => verifiedPages(db, filter, { areSuppressed: false }),
  /** Verified by this page, and on the list of addresses that get no mail. */
  suppressed: (db: Db, filter: LeadFilter) => verifiedPages(db, filter, { areSuppressed: true }),
  /** Asked for a code, and has not entered one. */
  unverified: unverifiedPages,
  /** Imported from another tool. */
  imported: importedPages,
} as const satisfies Record<string, (db: Db, filter: LeadFilter) => AsyncGenerator<readonly LeadRecord[]>>;

export type LeadState = keyof typeof READERS;
export const LEAD_STATES = Object.keys(READERS) as LeadState[];

/** A person, with a lead's newest consent. Times are milliseconds since 1970. */
export type LeadRecord = LeadAnswers & {
  readonly id: string;
  readonly email: string;
  readonly state: LeadState;
  /** First verified; or asked for the newest code; or imported. */
  readonly state_since: number;
  /** Null for a person who was never verified. */
  readonly first_verified_at: number | null;
  readonly last_verified_at: number | null;
  /** When the lead was first given the article. */
  readonly first_read_at: number | null;
  /** JSON: where the visit came from (server/attribution/attribution.ts); null for an imported person. */
  readonly attribution: string | null;
  /** Separated by spaces. */
  readonly flags: string;
  /** Which of several pages had the form; null where there was one. */
  readonly variant: string | null;
  readonly consent_given_at: number | null;
  readonly consent_version: string | null;
  readonly consent_text: string | null;
  /** Where an imported person's consent came from, in the operator's words. */
  readonly consent_source: string | null;
};

export type LeadFilter = {
  /** In this state since then or later. Milliseconds since 1970. */
  readonly since?: number | undefined;
  /** In this state since before then. Milliseconds since 1970. */
  readonly until?: number | undefined;
  readonly flag?: string | undefined;
  /** Only leads that no export of this name has had. */
  readonly missingIn?: string | undefined;
  /** Only leads that went out in this export. */
  readonly exportedIn?: ExportRun | undefined;
  /** Only people with this text in address, name or company, in capital or small letters. */
  readonly search?: string | undefined;
  /** Those who have been in the state longest come last. */
  readonly newestFirst?: boolean | undefined;
};

/** A lead with its newest consent. Times are milliseconds since 1970. */
export type HeldLead = Awaited<ReturnType<ReturnType<typeof leadRecords>['executeTakeFirstOrThrow']>>;

/** Each lead with its newest consent. */
const leadRecords = (db: Db) =>
  db
    .selectFrom('leads as l')
    .leftJoin('consent_receipts as r', (join) =>
      join.on('r.id', '=', (eb) =>
        eb
          .selectFrom('consent_receipts as newest')
          .select('newest.id')
          .whereRef('newest.lead_id', '=', 'l.id')
          .orderBy('newest.id', 'desc')
          .limit(1),
      ),
    )
    .leftJoin('consent_wordings as w', 'w.version', 'r.consent_version')
    .select([
      'l.id',
      'l.email',
      'l.name',
      'l.company',
      'l.answers',
      'l.first_verified_at',
      'l.last_verified_at',
      'l.first_read_at',
      'l.attribution',
      'l.flags',
      'l.variant',
      'r.given_at as consent_given_at',
      'r.consent_version',
      'w.text as consent_text',
    ]);

type ById = { readonly id: string };
const recordWith = (db: Db, value: Value<ById>) => leadRecords(db).where('l.id', '=', value('id'));
const heldOn = {
  // SQLite has one writer at a time, so it needs no lock.
  sqlite: statement((db, value: Value<ById>) => recordWith(db, value)),
  postgres: statement((db, value: Value<ById>) => recordWith(db, value).forUpdate('l')),
};

/**
 * Reads one lead and locks its row until the transaction ends.
 * @returns undefined when there is none
 */
export async function holdLeadRecord(
  tx: Db,
  engine: OpenDatabase['engine'],
  id: string,
): Promise<HeldLead | undefined> {
  const { rows } = await heldOn[engine](tx, { id });
  return rows[0];
}

/** Pages this small die in V8's young generation: with 500 an export needs 20 MB more, and no less time. */
const PAGE_SIZE = 200;
/** Rows looked at in one statement where few of them are wanted. */
const SLICE_SIZE = 5_000;

/**
 * Reads people in a state, those who have been in it longest first if not asked otherwise. Someone who enters it meanwhile may be
 * read or not.
 * @returns pages, which may be empty
 */
export async function* leadPages(
  db: Db,
  state: LeadState,
  filter: LeadFilter,
): AsyncGenerator<readonly LeadRecord[], void, void> {
  const { search } = filter;
  const isFound = search === undefined ? null : holdsText(search);
  for await (const page of READERS[state](db, filter)) yield isFound === null ? page : page.filter(isFound);
}

/**
 * Reads a table in the order of its ids, a page at a time. A search wants few rows of many, and so does an export that is read again:
 * these go by slices of ids, so that no statement looks at all of a long table.
 * @param read reads the rows whose ids are in a range, in an order; null: no limit but the range
 */
async function* pagesById<Row extends { readonly id: string }>(
  db: Db,
  { table, id, filter }: { table: 'leads' | 'imported_leads'; id: 'l.id' | 'i.id'; filter: LeadFilter },
  read: (range: RawBuilder<boolean>, order: 'asc' | 'desc', limit: number | null) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[], void, void> {
  const { search, exportedIn, newestFirst = false } = filter;
  const [order, beyond] = newestFirst ? (['desc', sql`<`] as const) : (['asc', sql`>`] as const);
  const column = sql.ref(id);
  if (search === undefined && exportedIn === undefined) {
    const readAfter = (after: string | null) =>
      read(after === null ? sql`true` : sql`${column} ${beyond} ${after}`, order, PAGE_SIZE);
    return yield* pagesAfter<Row, string | null>(null, readAfter, (row) => row.id);
  }
  const slices = slicesOf(db, { table, column: 'id', size: SLICE_SIZE, newestFirst }, EVERYTHING);
  for await (const { after, last } of slices)
    yield await read(sql`${column} > ${after} and ${column} <= ${last}`, order, null);
}

const EVERYTHING = { begin: '', end: null };

async function* verifiedPages(
  db: Db,
  filter: LeadFilter,
  { areSuppressed }: { areSuppressed: boolean },
): AsyncGenerator<readonly LeadRecord[], void, void> {
  const { since, until, flag, missingIn, exportedIn, search } = filter;
  const pages = pagesById(db, { table: 'leads', id: 'l.id', filter }, (range, order, limit) =>
    leadRecords(db)
      .where(range)
      .where(areSuppressed ? isSuppressed('l.email') : sql<boolean>`not (${isSuppressed('l.email')})`)
      .$if(since !== undefined, (query) => query.where('l.first_verified_at', '>=', since!))
      .$if(until !== undefined, (query) => query.where('l.first_verified_at', '<', until!))
      .$if(flag !== undefined, (query) => query.where(hasFlag('l.flags', flag!)))
      .$if(missingIn !== undefined, (query) => query.where(isMissingIn(missingIn!)))
      .$if(exportedIn !== undefined, (query) => query.where(isExportedIn(exportedIn!)))
      .$if(search !== undefined, (query) => query.where(mayHoldText('l', search!)))
      .orderBy('l.id', order)
      .$if(limit !== null, (query) => query.limit(limit!))
      .execute(),
  );
  for await (const page of pages)
    yield page.map((row) =>
      Object.assign(row, {
        state: areSuppressed ? ('suppressed' as const) : ('verified' as const),
        state_since: row.first_verified_at,
        consent_source: null,
      }),
    );
}

/** Whether anyone in a state has answered a question of a campaign's own. */
export async function hasOwnAnswers(db: Db, state: LeadState): Promise<boolean> {
  const table = state === 'unverified' ? 'submissions' : state === 'imported' ? 'imported_leads' : 'leads';
  const { rows } = await sql`select 1 from ${sql.table(table)} where answers is not null limit 1`.execute(db);
  return rows.length > 0;
}

/** Whether anyone in a state was given one of several pages. */
export async function hasVariants(db: Db, state: LeadState): Promise<boolean> {
  if (state === 'imported') return false;
  const table = state === 'unverified' ? 'submissions' : 'leads';
  const { rows } = await sql`select 1 from ${sql.table(table)} where variant is not null limit 1`.execute(db);
  return rows.length > 0;
}

/** The owner of the address has not shown up yet, so there is no consent to report. */
async function* unverifiedPages(
  db: Db,
  { since, until, flag, search, newestFirst = false }: LeadFilter,
): AsyncGenerator<readonly LeadRecord[], void, void> {
  // Few rows of a slice are wanted: most people who asked are leads. An id is made after its time was noted, never before.
  const begin = since === undefined ? '' : lowestIdAt(since);
  for await (const { after, last } of slicesOf(
    db,
    { table: 'submissions', column: 'id', size: SLICE_SIZE, newestFirst },
    { begin, end: null },
  )) {
    const { rows } = await sql<
      Pick<
        LeadRecord,
        keyof LeadAnswers | 'id' | 'email' | 'state_since' | 'attribution' | 'flags' | 'variant'
      >
    >`
      select s.id, s.email, s.name, s.company, s.answers, s.created_at as state_since, s.attribution, s.flags, s.variant
      from submissions s
      where s.id > ${after} and s.id <= ${last}
      and not exists (select 1 from leads l where l.email = s.email)
      and not exists (select 1 from submissions n where n.email = s.email and n.id > s.id)
      ${since === undefined ? sql`` : sql`and s.created_at >= ${since}`}
      ${until === undefined ? sql`` : sql`and s.created_at < ${until}`}
      ${flag === undefined ? sql`` : sql`and ${hasFlag('s.flags', flag)}`}
      ${search === undefined ? sql`` : sql`and ${mayHoldText('s', search)}`}
      order by s.id ${newestFirst ? sql`desc` : sql`asc`}
    `.execute(db);
    yield rows.map((row) =>
      Object.assign(row, { state: 'unverified' as const, consent_source: null }, NO_CONSENT),
    );
  }
}

const NO_CONSENT = {
  first_verified_at: null,
  last_verified_at: null,
  first_read_at: null,
  consent_given_at: null,
  consent_version: null,
  consent_text: null,
} as const;

/** Leaves out imported people who have become leads since. */
async function* importedPages(db: Db, filter: LeadFilter): AsyncGenerator<readonly LeadRecord[], void, void> {
  const { since, until, search } = filter;
  const pages = pagesById(db, { table: 'imported_leads', id: 'i.id', filter }, (range, order, limit) =>
    db
      .selectFrom('imported_leads as i')
      .selectAll('i')
      .select((eb) =>
        eb.selectFrom('leads as l').select('l.id').whereRef('l.email', '=', 'i.email').as('lead_id'),
      )
      .where(range)
      .where(sql<boolean>`not (${isSuppressed('i.email')})`)
      .$if(since !== undefined, (query) => query.where('i.imported_at', '>=', since!))
      .$if(until !== undefined, (query) => query.where('i.imported_at', '<', until!))
      .$if(search !== undefined, (query) => query.where(mayHoldText('i', search!)))
      .orderBy('i.id', order)
      .$if(limit !== null, (query) => query.limit(limit!))
      .execute(),
  );
  for await (const page of pages)
    yield page
      .filter((row) => row.lead_id === null)
      .map((row) => ({
        ...NO_CONSENT,
        id: row.id,
        email: row.email,
        ...answersOf(row),
        state: 'imported',
        state_since: row.imported_at,
        attribution: null,
        flags: '',
        variant: null,
        consent_given_at: row.consent_given_at,
        consent_source: row.consent_source,
      }));
}

// Looked up for each person, not joined: PostgreSQL would go through all of a long table for each page of a few people.

/** Whether an address stands on the list of those that are not to be mailed. */
const isSuppressed = (email: 'l.email' | 'i.email') =>
  sql<boolean>`(select 1 from suppressions where suppressions.email = ${sql.ref(email)} limit 1) is not null`;

/** Whether no export of this name has had a lead. */
const isMissingIn = (name: string) =>
  sql<boolean>`(select 1 from exported_leads e where e.lead_id = l.id and e.export_name = ${name}) is null`;

/** Whether a lead went out in an export. */
const isExportedIn = ({ name, from, to }: ExportRun) =>
  sql<boolean>`(select 1 from exported_leads e where e.lead_id = l.id and e.export_name = ${name}
    and e.exported_at >= ${from} and e.exported_at <= ${to}) is not null`;

/** One of the words of a list that is separated by spaces. */
const hasFlag = (column: string, flag: string) =>
  sql<boolean>`' ' || ${sql.ref(column)} || ' ' like ${`% ${flag} %`}`;

const folded = (text: string): string => text.normalize('NFC').toLowerCase();

/** Whether address, name or company of a person hold a text, in capital or small letters. */
function holdsText(text: string): (person: Pick<LeadRecord, 'email' | 'name' | 'company'>) => boolean {
  const wanted = folded(text);
  return ({ email, name, company }) => [email, name, company].some((value) => folded(value).includes(wanted));
}

/**
 * Whether they may hold it. SQLite knows the small letters of ASCII alone, and PostgreSQL those of its locale, so any other letter
 * that has a small or an accented form stands for anything here; holdsText then looks closely.
 */
function mayHoldText(table: 'l' | 's' | 'i', text: string): RawBuilder<boolean> {
  const letters = Array.from(text.normalize('NFC'), (letter) => {
    if (/[a-z]/i.test(letter)) return letter.toLowerCase();
    if (/[%_\\]/.test(letter)) return `\\${letter}`;
    const isPlain = letter.toLowerCase() === letter.toUpperCase() && letter.normalize('NFD') === letter;
    return isPlain ? letter : '%';
  });
  const pattern = `%${letters.join('')}%`;
  const fits = (column: string) => sql`lower(${sql.ref(`${table}.${column}`)}) like ${pattern} escape '\\'`;
  return sql<boolean>`(${fits('email')} or ${fits('name')} or ${fits('company')})`;
}

/**
 * Where the people came from of whom anything is kept: leads, and those who asked for a code.
 * @returns pages of attributions (JSON, server/attribution/attribution.ts), each once a page
 */
export async function* attributionPages(db: Db): AsyncGenerator<readonly string[], void, void> {
  for (const table of ['leads', 'submissions'] as const)
    for await (const { after, last } of slicesOf(db, { table, column: 'id', size: SLICE_SIZE }, EVERYTHING)) {
      const rows = await db
        .selectFrom(table)
        .select('attribution')
        .distinct()
        .where('id', '>', after)
        .where('id', '<=', last)
        .execute();
      yield rows.map(({ attribution }) => attribution);
    }
}

/** PostgreSQL takes 65,535 values in one statement. */
const MOST_AT_ONCE = 1_000;

/**
 * Records that an export of this name has had these leads. Skips those that were erased meanwhile.
 * @param now milliseconds since 1970
 */
export async function rememberExported(
  db: Db,
  { name, leadIds, now }: { name: string; leadIds: readonly string[]; now: number },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    for (let from = 0; from < leadIds.length; from += MOST_AT_ONCE) {
      await tx
        .insertInto('exported_leads')
        .columns(['export_name', 'lead_id', 'exported_at'])
        .expression((eb) =>
          eb
            .selectFrom('leads')
            .select((leads) => [
              leads.val(name).as('export_name'),
              'leads.id as lead_id',
              leads.val(now).as('exported_at'),
            ])
            .where('leads.id', 'in', leadIds.slice(from, from + MOST_AT_ONCE)),
        )
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
  });
}

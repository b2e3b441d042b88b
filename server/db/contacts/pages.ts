// Page by page, so no writer waits for a long statement.
import { sql, type RawBuilder } from 'kysely';

import {
  closeLook,
  isNarrow,
  mayBeWanted,
  type LeadFilter,
  type LeadRecord,
  type LeadState,
} from '#server/db/contacts/filter.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { idsAround, type TimedTable } from '#server/db/engine/ids.ts';
import {
  lookBack,
  pagesAfter,
  SLICE_SIZE,
  slicesOf,
  type Slice,
} from '#server/db/engine/page-through-table.ts';
import type { ExportRun } from '#server/db/queries/export-history.ts';
import { answersOf, asciiAddress, normaliseEmail, type LeadAnswers } from '#shared/lead.ts';

/** Small pages die in V8's young generation: with 200 an export needs 10 MB more, and no less time. */
const PAGE_SIZE = 100;
/** Smaller, because all leads of a slice may be new, and are then in memory. */
const SLICE_OF_NEW = 500;

/**
 * By default longest in the state first.
 * @returns pages, possibly empty
 */
export async function* leadPages(
  db: Db,
  state: LeadState,
  asked: LeadFilter,
): AsyncGenerator<readonly LeadRecord[], void, void> {
  const filter = asStored(asked);
  const reader = READERS[state];
  const { newestFirst = false } = filter;
  const order = newestFirst ? 'desc' : 'asc';
  const id = sql.ref(reader.id);
  const range = await idsAround(db, reader, filter);
  const isFound = closeLook(filter);
  if (reader.slices.always || isNarrow(filter)) {
    const size = filter.missingIn === undefined ? reader.slices.size : SLICE_OF_NEW;
    for await (const slice of slicesOf(db, { table: reader.table, column: 'id', size, newestFirst }, range)) {
      const page = await reader.read(db, filter, { where: isIn(reader, slice), order, limit: null });
      yield isFound === null ? page : page.filter(isFound);
    }
    return;
  }
  const readAfter = (after: string | null) => {
    // One bound per side, because SQLite seeks by the first of two and scans up to the second.
    const begin = newestFirst ? range.begin : (after ?? range.begin);
    const end = newestFirst ? (after ?? range.end) : range.end;
    const where = sql<boolean>`(${id} > ${begin}${end === null ? sql`` : sql` and ${id} < ${end}`})`;
    return reader.read(db, filter, { where, order, limit: PAGE_SIZE });
  };
  yield* pagesAfter<LeadRecord, string | null>(null, readAfter, (row) => row.id);
}

export type LookForPeople = {
  readonly people: readonly LeadRecord[];
  /** For the next call; null at the end. */
  readonly next: string | null;
  /** Everyone who entered the state since was checked. Milliseconds since 1970, null at the end. */
  readonly lookedBackTo: number | null;
};

/**
 * Newest first for a limited time, so a page can be short or empty.
 * @param options from: the previous `next`, or null. isWanted: extra filter. most: people to return. forMs: milliseconds
 */
export async function lookForPeople(
  db: Db,
  state: LeadState,
  asked: LeadFilter,
  {
    from,
    isWanted = () => true,
    ...limits
  }: {
    readonly from: string | null;
    readonly isWanted?: (person: LeadRecord) => boolean;
    readonly most: number;
    readonly forMs: number;
  },
): Promise<LookForPeople> {
  const filter = asStored(asked);
  const reader = READERS[state];
  const range = { ...(await idsAround(db, reader, filter)), upTo: from };
  const isFound = closeLook(filter) ?? (() => true);
  const read = async (where: RawBuilder<boolean>) => {
    const rows = await reader.read(db, filter, { where, order: 'desc', limit: null });
    return rows.filter((row) => isFound(row) && isWanted(row));
  };
  const address = wholeAddress(filter.search);
  const owners = address === null || from !== null ? [] : await read(hasAddress(reader, address));
  const { found, next } = await lookBack(
    db,
    reader.table,
    range,
    async (slice) => {
      const rows = await read(isIn(reader, slice));
      return address === null ? rows : rows.filter(({ email }) => email !== address);
    },
    limits,
  );
  return {
    people: [...owners, ...found],
    next,
    lookedBackTo: next === null ? null : await timeOf(db, reader, next),
  };
}

/** An upper bound, by table and time only. */
export async function countAtMost(db: Db, state: LeadState, filter: LeadFilter): Promise<number> {
  const reader = READERS[state];
  return countIds(db, reader.table, await idsAround(db, reader, filter));
}

async function countIds(
  db: Db,
  table: PeopleTable,
  { begin, end }: { readonly begin: string; readonly end: string | null },
): Promise<number> {
  const { count } = await db
    .selectFrom(table)
    .select((eb) => eb.fn.countAll().as('count'))
    .where('id', '>', begin)
    .$if(end !== null, (query) => query.where('id', '<', end!))
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function hasOwnAnswers(db: Db, state: LeadState): Promise<boolean> {
  const { table } = READERS[state];
  const { rows } = await sql`select 1 from ${sql.table(table)} where answers is not null limit 1`.execute(db);
  return rows.length > 0;
}

export async function hasVariants(db: Db, state: LeadState): Promise<boolean> {
  if (state === 'imported') return false;
  const { table } = READERS[state];
  const { rows } = await sql`select 1 from ${sql.table(table)} where variant is not null limit 1`.execute(db);
  return rows.length > 0;
}

const wholeAddress = (search: string | undefined): string | null =>
  search === undefined || asciiAddress(search.trim()) === null ? null : normaliseEmail(search);

const asStored = (filter: LeadFilter): LeadFilter => {
  const address = wholeAddress(filter.search);
  return address === null ? filter : { ...filter, search: address };
};

const isIn = (reader: StateReader, { after, last }: Slice) =>
  sql<boolean>`(${sql.ref(reader.id)} > ${after} and ${sql.ref(reader.id)} <= ${last})`;

async function timeOf(db: Db, { table, column }: StateReader, id: string): Promise<number | null> {
  const { rows } = await sql<{ at: number }>`
    select ${sql.ref(column)} as at from ${sql.table(table)} where id = ${id}
  `.execute(db);
  return rows[0]?.at ?? null;
}

export type StateReader = TimedTable & {
  readonly table: PeopleTable;
  readonly id: 'l.id' | 's.id' | 'i.id';
  /** Rows per statement when few are wanted; always, if few of the table are in the state. */
  readonly slices: { readonly size: number; readonly always: boolean };
  readonly read: (
    db: Db,
    filter: LeadFilter & EvenHidden,
    rows: { where: RawBuilder<boolean>; order: 'asc' | 'desc'; limit: number | null },
  ) => Promise<readonly LeadRecord[]>;
};
export type PeopleTable = 'leads' | 'submissions' | 'imported_leads';

export const READERS: Readonly<Record<LeadState, StateReader>> = {
  verified: {
    table: 'leads',
    column: 'first_verified_at',
    id: 'l.id',
    slices: { size: SLICE_SIZE, always: false },
    read: (db, filter, rows) => readLeads(db, filter, { ...rows, areSuppressed: false }),
  },
  suppressed: {
    table: 'leads',
    column: 'first_verified_at',
    id: 'l.id',
    slices: { size: SLICE_SIZE, always: true },
    read: (db, filter, rows) => readLeads(db, filter, { ...rows, areSuppressed: true }),
  },
  unverified: {
    table: 'submissions',
    column: 'created_at',
    id: 's.id',
    slices: { size: SLICE_SIZE, always: true },
    read: readUnverified,
  },
  imported: {
    table: 'imported_leads',
    column: 'imported_at',
    id: 'i.id',
    slices: { size: 1_000, always: true },
    read: readImported,
  },
};

type EvenHidden = {
  readonly evenSuppressed?: boolean | undefined;
};

export const leadRecords = (db: Db) =>
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

async function readLeads(
  db: Db,
  filter: LeadFilter & EvenHidden,
  {
    where,
    order,
    limit,
    areSuppressed,
  }: Parameters<StateReader['read']>[2] & { readonly areSuppressed: boolean },
): Promise<readonly LeadRecord[]> {
  const { since, until, flag, missingIn, exportedIn } = filter;
  const rows = await leadRecords(db)
    .where(where)
    .where(areSuppressed ? isSuppressed('l.email') : sql<boolean>`not (${isSuppressed('l.email')})`)
    .$if(since !== undefined, (query) => query.where('l.first_verified_at', '>=', since!))
    .$if(until !== undefined, (query) => query.where('l.first_verified_at', '<', until!))
    .$if(flag !== undefined, (query) => query.where(hasFlag('l.flags', flag!)))
    .$if(missingIn !== undefined, (query) => query.where(isMissingIn(missingIn!)))
    .$if(exportedIn !== undefined, (query) => query.where(isExportedIn(exportedIn!)))
    .where(mayBeWanted('l', filter))
    .orderBy('l.id', order)
    .$if(limit !== null, (query) => query.limit(limit!))
    .execute();
  return rows.map((row) =>
    Object.assign(row, {
      state: areSuppressed ? ('suppressed' as const) : ('verified' as const),
      state_since: row.first_verified_at,
      consent_source: null,
    }),
  );
}

async function readUnverified(
  db: Db,
  filter: LeadFilter,
  { where, order, limit }: Parameters<StateReader['read']>[2],
): Promise<readonly LeadRecord[]> {
  const { since, until, flag } = filter;
  const { rows } = await sql<
    Pick<LeadRecord, keyof LeadAnswers | 'id' | 'email' | 'state_since' | 'attribution' | 'flags' | 'variant'>
  >`
    select s.id, s.email, s.name, s.company, s.answers, s.created_at as state_since, s.attribution, s.flags, s.variant
    from submissions s
    where ${where}
    and not exists (select 1 from leads l where l.email = s.email)
    and s.id = (select n.id from submissions n where n.email = s.email order by n.created_at desc, n.id desc limit 1)
    ${since === undefined ? sql`` : sql`and s.created_at >= ${since}`}
    ${until === undefined ? sql`` : sql`and s.created_at < ${until}`}
    ${flag === undefined ? sql`` : sql`and ${hasFlag('s.flags', flag)}`}
    and ${mayBeWanted('s', filter)}
    order by s.id ${order === 'desc' ? sql`desc` : sql`asc`}
    ${limit === null ? sql`` : sql`limit ${limit}`}
  `.execute(db);
  return rows.map((row) =>
    Object.assign(row, { state: 'unverified' as const, consent_source: null }, NO_CONSENT),
  );
}

const NO_CONSENT = {
  first_verified_at: null,
  last_verified_at: null,
  first_read_at: null,
  consent_given_at: null,
  consent_version: null,
  consent_text: null,
} as const;

async function readImported(
  db: Db,
  filter: LeadFilter & EvenHidden,
  { where, order, limit }: Parameters<StateReader['read']>[2],
): Promise<readonly LeadRecord[]> {
  const { since, until, flag, attributionHolds, evenSuppressed = false } = filter;
  if (flag !== undefined || attributionHolds !== undefined) return [];
  const rows = await db
    .selectFrom('imported_leads as i')
    .selectAll('i')
    .where(where)
    .where(sql<boolean>`(select l.id from leads l where l.email = i.email) is null`)
    .$if(!evenSuppressed, (query) => query.where(sql<boolean>`not (${isSuppressed('i.email')})`))
    .$if(since !== undefined, (query) => query.where('i.imported_at', '>=', since!))
    .$if(until !== undefined, (query) => query.where('i.imported_at', '<', until!))
    .where(mayBeWanted('i', filter))
    .orderBy('i.id', order)
    .$if(limit !== null, (query) => query.limit(limit!))
    .execute();
  return rows.map((row) => ({
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

// A subquery instead of a join: otherwise PostgreSQL reads all of a long table for each small page.

const isSuppressed = (email: 'l.email' | 'i.email') =>
  sql<boolean>`(select 1 from suppressions where suppressions.email = ${sql.ref(email)} limit 1) is not null`;

const isMissingIn = (name: string) =>
  sql<boolean>`(select 1 from exported_leads e where e.lead_id = l.id and e.export_name = ${name}) is null`;

const isExportedIn = ({ name, from, to }: ExportRun) =>
  sql<boolean>`(select 1 from exported_leads e where e.lead_id = l.id and e.export_name = ${name}
    and e.exported_at >= ${from} and e.exported_at <= ${to}) is not null`;

const hasFlag = (column: string, flag: string) =>
  sql<boolean>`' ' || ${sql.ref(column)} || ' ' like ${`% ${flag} %`}`;

const tableOf = (reader: StateReader) => reader.id.slice(0, 1) as 'l' | 's' | 'i';

/** @param email as stored */
export const hasAddress = (reader: StateReader, email: string) =>
  sql<boolean>`${sql.ref(`${tableOf(reader)}.email`)} = ${email}`;

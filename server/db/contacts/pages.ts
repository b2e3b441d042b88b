// Page by page, so no writer waits for a long statement.
import { sql, type RawBuilder } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { idsAround } from '#server/db/engine/first-id-at.ts';
import { lookBack, pagesAfter, slicesOf, type Slice } from '#server/db/engine/page-through-table.ts';
import { closeLook, isNarrow } from '#server/db/contacts/matches.ts';
import type { LeadFilter, LeadRecord, LeadState } from '#server/db/contacts/person.ts';
import { hasAddress, READERS, type PeopleTable, type StateReader } from '#server/db/contacts/readers.ts';
import { asciiAddress, normaliseEmail } from '#shared/lead.ts';

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

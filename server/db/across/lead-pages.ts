// Leads, and people who are none yet, read a page at a time, so that no writer waits for a long statement.
import { sql, type RawBuilder } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import type { ExportRun } from '#server/db/across/export-history.ts';
import { firstIdAt, type TimedTable } from '#server/db/engine/first-id-at.ts';
import { lookBack, pagesAfter, slicesOf, type Slice } from '#server/db/engine/page-through-table.ts';
import { statement, type Value } from '#server/db/engine/statement.ts';
import { answersOf, asciiAddress, normaliseEmail, type LeadAnswers } from '#shared/lead.ts';
import { answerText, readAnswers } from '#shared/own-answers.ts';

/** What reads the people in a state. */
type StateReader = TimedTable & {
  readonly table: PeopleTable;
  /** The column of ids in its statements. */
  readonly id: 'l.id' | 's.id' | 'i.id';
  /** Rows looked at in one statement where few of them are wanted; always, if few of the table are in the state. */
  readonly slices: { readonly size: number; readonly always: boolean };
  /**
   * Reads the people of some rows.
   * @param where which rows
   * @param limit null: none
   */
  readonly read: (
    db: Db,
    filter: LeadFilter & EvenHidden,
    rows: { where: RawBuilder<boolean>; order: 'asc' | 'desc'; limit: number | null },
  ) => Promise<readonly LeadRecord[]>;
};
type PeopleTable = 'leads' | 'submissions' | 'imported_leads';

/** Rows looked at in one statement where few of them are wanted. */
const SLICE_SIZE = 5_000;

/** The states of an address. A new state is an entry here. */
const READERS = {
  /** Verified by this page, and not suppressed. */
  verified: {
    table: 'leads',
    column: 'first_verified_at',
    id: 'l.id',
    slices: { size: SLICE_SIZE, always: false },
    read: (db, filter, rows) => readLeads(db, filter, { ...rows, areSuppressed: false }),
  },
  /** Verified by this page, and on the list of addresses that get no mail. */
  suppressed: {
    table: 'leads',
    column: 'first_verified_at',
    id: 'l.id',
    slices: { size: SLICE_SIZE, always: true },
    read: (db, filter, rows) => readLeads(db, filter, { ...rows, areSuppressed: true }),
  },
  /** Asked for a code, and has not entered one: most people who asked are leads. */
  unverified: {
    table: 'submissions',
    column: 'created_at',
    id: 's.id',
    slices: { size: SLICE_SIZE, always: true },
    read: readUnverified,
  },
  /** Imported from another tool. */
  imported: {
    table: 'imported_leads',
    column: 'imported_at',
    id: 'i.id',
    slices: { size: 1_000, always: true },
    read: readImported,
  },
} as const satisfies Record<string, StateReader>;

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
  /** Only addresses with this after the @. In lower case, in ASCII. */
  readonly domain?: string | undefined;
  /** Only people with this text in their answer to a question of the campaign's own, in capital or small letters. */
  readonly answer?: { readonly field: string; readonly text: string } | undefined;
  /** Only people whose attribution holds one of these texts, in any case: for the few of a source. Who has none is left out. */
  readonly attributionHolds?: readonly string[] | undefined;
  /** Those who have been in the state longest come last. */
  readonly newestFirst?: boolean | undefined;
};

/** For a person whose address is known: the list leaves some out whom their page shows. */
type EvenHidden = {
  /** An imported person who is not to be mailed as well. */
  readonly evenSuppressed?: boolean | undefined;
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
  const reader: StateReader = READERS[state];
  const { newestFirst = false } = filter;
  const [order, beyond] = newestFirst ? (['desc', sql`<`] as const) : (['asc', sql`>`] as const);
  const id = sql.ref(reader.id);
  const range = await rangeOf(db, reader, filter);
  const isFound = closeLook(filter);
  if (reader.slices.always || isNarrow(filter)) {
    const { size } = reader.slices;
    for await (const slice of slicesOf(db, { table: reader.table, column: 'id', size, newestFirst }, range)) {
      const page = await reader.read(db, filter, { where: isIn(reader, slice), order, limit: null });
      yield isFound === null ? page : page.filter(isFound);
    }
    return;
  }
  const readAfter = (after: string | null) => {
    const { begin, end } = range;
    const where = sql<boolean>`(${id} > ${begin}${end === null ? sql`` : sql` and ${id} < ${end}`}
      ${after === null ? sql`` : sql`and ${id} ${beyond} ${after}`})`;
    return reader.read(db, filter, { where, order, limit: PAGE_SIZE });
  };
  yield* pagesAfter<LeadRecord, string | null>(null, readAfter, (row) => row.id);
}

export type LookForPeople = {
  /** The newest first. */
  readonly people: readonly LeadRecord[];
  /** For the next look; null at the end. */
  readonly next: string | null;
  /** Everyone who has come into the state since then was looked at; milliseconds since 1970, null at the end. */
  readonly lookedBackTo: number | null;
};

/**
 * Looks for people in a state, the newest first, for a limited time: a page can be short or empty while there is more to look at. A
 * search for a whole address finds its owner at once.
 * @param options from: the `next` of the look before, null: none. isWanted: looks at each person that the filter lets through. most: how
 *   many to return. forMs: how long to look, in milliseconds
 */
export async function lookForPeople(
  db: Db,
  state: LeadState,
  filter: LeadFilter,
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
  const reader: StateReader = READERS[state];
  const range = { ...(await rangeOf(db, reader, filter)), upTo: from };
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

/** How many people there are in a state at most, for a progress bar: those in its table, in the time that the filter names. */
export async function countAtMost(db: Db, state: LeadState, filter: LeadFilter): Promise<number> {
  const reader: StateReader = READERS[state];
  return countIds(db, reader.table, await rangeOf(db, reader, filter));
}

/** How many ids there are in a range. */
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

/** The address of a lead, an imported person or a form; undefined when there is no such row (any more). */
export async function addressOfPerson(db: Db, id: string): Promise<string | undefined> {
  for (const table of ['leads', 'imported_leads', 'submissions'] as const) {
    const row = await db.selectFrom(table).select('email').where('id', '=', id).executeTakeFirst();
    if (row !== undefined) return row.email;
  }
  return undefined;
}

/** What says most about a person comes first: who was imported and asks for a code is still the imported person. */
const BY_WEIGHT = [
  'verified',
  'suppressed',
  'imported',
  'unverified',
] as const satisfies readonly LeadState[];

/** A person by the address; undefined when there is none. @param email as stored */
export async function findPerson(db: Db, email: string): Promise<LeadRecord | undefined> {
  for (const state of BY_WEIGHT) {
    const reader: StateReader = READERS[state];
    const where = hasAddress(reader, email);
    const rows = await reader.read(db, { evenSuppressed: true }, { where, order: 'desc', limit: 1 });
    if (rows[0] !== undefined) return rows[0];
  }
  return undefined;
}

const wholeAddress = (search: string | undefined): string | null =>
  search === undefined || asciiAddress(search.trim()) === null ? null : normaliseEmail(search);

const tableOf = (reader: StateReader) => reader.id.slice(0, 1) as 'l' | 's' | 'i';
const hasAddress = (reader: StateReader, email: string) =>
  sql<boolean>`${sql.ref(`${tableOf(reader)}.email`)} = ${email}`;
const isIn = (reader: StateReader, { after, last }: Slice) =>
  sql<boolean>`(${sql.ref(reader.id)} > ${after} and ${sql.ref(reader.id)} <= ${last})`;

/** When the person of a row came into the state. */
async function timeOf(db: Db, { table, column }: StateReader, id: string): Promise<number | null> {
  const { rows } = await sql<{ at: number }>`
    select ${sql.ref(column)} as at from ${sql.table(table)} where id = ${id}
  `.execute(db);
  return rows[0]?.at ?? null;
}

/** Ids are made a moment after the time was noted that stands in the row, and processes differ a little. */
const ID_TOLERANCE_MS = 60_000;

/** Where the people are who came into a state in the time that a filter names. Some at its edges did not. */
async function rangeOf(
  db: Db,
  reader: StateReader,
  { since, until }: LeadFilter,
): Promise<{ readonly begin: string; readonly end: string | null }> {
  return {
    begin: since === undefined ? '' : await firstIdAt(db, reader, since - ID_TOLERANCE_MS),
    end: until === undefined ? null : await firstIdAt(db, reader, until + ID_TOLERANCE_MS),
  };
}

/** Whether a filter may let few people through, so that a statement without an end would look at all of a long table. */
const isNarrow = ({ search, exportedIn, flag, domain, answer, attributionHolds }: LeadFilter): boolean =>
  [search, exportedIn, flag, domain, answer, attributionHolds].some((part) => part !== undefined);

/** What has to be looked at more closely than SQL can; null: nothing. */
function closeLook({ search, answer }: LeadFilter): ((person: LeadRecord) => boolean) | null {
  if (search === undefined && answer === undefined) return null;
  const holds = search === undefined ? () => true : holdsText(search);
  const answers = answer === undefined ? () => true : hasAnswered(answer);
  return (person) => holds(person) && answers(person);
}

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

/** Whether anyone in a state has answered a question of a campaign's own. */
export async function hasOwnAnswers(db: Db, state: LeadState): Promise<boolean> {
  const { table } = READERS[state];
  const { rows } = await sql`select 1 from ${sql.table(table)} where answers is not null limit 1`.execute(db);
  return rows.length > 0;
}

/** Whether anyone in a state was given one of several pages. */
export async function hasVariants(db: Db, state: LeadState): Promise<boolean> {
  if (state === 'imported') return false;
  const { table } = READERS[state];
  const { rows } = await sql`select 1 from ${sql.table(table)} where variant is not null limit 1`.execute(db);
  return rows.length > 0;
}

/** The owner of the address has not shown up yet, so there is no consent to report. */
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
    and not exists (select 1 from submissions n where n.email = s.email and n.id > s.id)
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

/** Leaves out imported people who have become leads since. */
async function readImported(
  db: Db,
  filter: LeadFilter & EvenHidden,
  { where, order, limit }: Parameters<StateReader['read']>[2],
): Promise<readonly LeadRecord[]> {
  const { since, until, flag, attributionHolds, evenSuppressed = false } = filter;
  // No form was sent, so there is neither.
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

/** The parts of a filter that every table of people has the columns for, as far as SQL can judge them. */
function mayBeWanted(
  table: 'l' | 's' | 'i',
  { search, domain, answer, attributionHolds }: LeadFilter,
): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  const parts = [
    ...(search === undefined
      ? []
      : [
          sql`(${sql.join(
            ['email', 'name', 'company'].map((name) => mayHold(column(name), search)),
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

/** Whether a person's answer to a question holds a text. */
function hasAnswered({ field, text }: NonNullable<LeadFilter['answer']>): (person: LeadRecord) => boolean {
  const wanted = folded(text);
  return ({ answers }) => folded(answerText(readAnswers(answers)[field]?.answer)).includes(wanted);
}

/** A text as it stands in a pattern of LIKE, with \ before what would stand for anything. */
const literally = (text: string): string => text.replaceAll(/[%_\\]/g, '\\$&');

/**
 * Whether a column may hold a text. SQLite knows the small letters of ASCII alone, and PostgreSQL those of its locale, so any other
 * letter that has a small or an accented form stands for anything here; closeLook then looks closely.
 */
function mayHold(column: RawBuilder<unknown>, text: string): RawBuilder<boolean> {
  const letters = Array.from(text.normalize('NFC'), (letter) => {
    if (/[a-z]/i.test(letter)) return letter.toLowerCase();
    const isPlain = letter.toLowerCase() === letter.toUpperCase() && letter.normalize('NFD') === letter;
    return isPlain ? literally(letter) : '%';
  });
  return sql<boolean>`lower(${column}) like ${`%${letters.join('')}%`} escape '\\'`;
}

const EVERYTHING = { begin: '', end: null };

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

/**
 * Where the newest people came from, for as long as there is time: leads, then those who asked for a code.
 * @param forMs for each of the two, in milliseconds
 * @returns attributions (JSON) with how many people have each; some come more than once
 */
export async function* newestAttributions(
  db: Db,
  forMs: number,
): AsyncGenerator<readonly { readonly attribution: string; readonly people: number }[], void, void> {
  for (const table of ['leads', 'submissions'] as const) {
    const until = performance.now() + forMs;
    const cut = { table, column: 'id', size: SLICE_SIZE, newestFirst: true } as const;
    for await (const { after, last } of slicesOf(db, cut, EVERYTHING)) {
      yield await db
        .selectFrom(table)
        .select(['attribution', sql<number>`count(*)`.as('people')])
        .where('id', '>', after)
        .where('id', '<=', last)
        .groupBy('attribution')
        .execute();
      if (performance.now() >= until) break;
    }
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

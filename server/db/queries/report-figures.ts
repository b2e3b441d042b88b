import { sql } from 'kysely';

import { isOnPostgres, type Db } from '#server/db/engine/connect.ts';
import { countsBetween, idsBetween } from '#server/db/engine/ids.ts';
import { slicesBackwards, slicesOf, type Slice } from '#server/db/engine/page-through-table.ts';
import { DAY_MS } from '#server/platform/time.ts';
import { clockOffsets } from '#shared/days.ts';

/** `from` is included, `to` is excluded. */
export type Span = { readonly from: number; readonly to: number };

export type Part = Span & { readonly variant?: string | undefined };
type PartInDays = Part & { readonly timeZone: string };

export type Group = {
  /** Days since 1970. */
  readonly day: number;
  readonly attribution: string | null;
  readonly domain: string;
  readonly people: number;
};

/** Several groups can have the same key, so the caller must add them up. Days are those of the first request. */
export type AskedGroup = Group & {
  readonly status: CodeStatus;
  readonly mailed: 0 | 1;
  /** From mailing to entry. */
  readonly seconds: number | null;
};

const ROWS_AT_ONCE = 20_000;

const domainExpression = (column: string, db: Db) =>
  isOnPostgres(db)
    ? sql<string>`split_part(${sql.ref(column)}, '@', 2)`
    : sql<string>`case instr(${sql.ref(column)}, '@') when 0 then ''
        else substr(${sql.ref(column)}, instr(${sql.ref(column)}, '@') + 1) end`;

function dayExpression(column: string, { from, to, timeZone }: PartInDays) {
  const offsets = clockOffsets(from, to, timeZone);
  const { offsetMs: last } = offsets.at(-1)!;
  const earlier = offsets
    .slice(0, -1)
    .map(({ until, offsetMs }) => sql`when ${sql.ref(column)} < ${sql.lit(until)} then ${sql.lit(offsetMs)}`);
  const offset =
    earlier.length === 0 ? sql.lit(last) : sql`case ${sql.join(earlier, sql` `)} else ${sql.lit(last)} end`;
  return sql<number>`(${sql.ref(column)} + ${offset}) / ${sql.lit(DAY_MS)}`;
}

/**
 * Counts each person once, at the first code within the span.
 * @param atOnce codes per statement; for tests
 */
export async function* askedGroups(
  db: Db,
  { from, to, variant, timeZone }: PartInDays,
  now: number,
  atOnce = ROWS_AT_ONCE,
): AsyncGenerator<readonly AskedGroup[], void, void> {
  const isIn = (table: string) => isInSpan(table, { from, to });
  const ofVariant = variant === undefined ? sql`` : sql`where s.variant = ${variant}`;
  for await (const { after, last } of slicesOf(db, 'codes', idsBetween(from, to), atOnce)) {
    const { rows } = await sql<AskedGroup>`
      with person as (
        select c.id, c.email, c.submission_id, c.created_at from codes c
        where c.id > ${after} and c.id <= ${last} and ${isIn('c')} and not exists (
          select 1 from codes earlier where earlier.email = c.email and earlier.id < c.id and ${isIn('earlier')}
        )
      ), facts as (${factsAboutCodes({ from, to }, now)}), named as (
        select ${dayExpression('f.created_at', { from, to, timeZone })} as day, s.attribution, ${domainExpression('f.email', db)} as domain,
          ${statusOfFacts} as status, mailed, seconds
        from facts f left join submissions s on s.id = f.submission_id ${ofVariant}
      )
      select day, attribution, domain, status, mailed, seconds, count(*) as people from named
      group by day, attribution, domain, status, mailed, seconds
    `.execute(db);
    yield rows;
  }
}

const leadSlices = (db: Db, { from, to }: Span) => slicesOf(db, 'leads', idsBetween(from, to), ROWS_AT_ONCE);

function leadsIn({ after, last }: Slice, { from, to, variant }: Part) {
  const ofVariant = variant === undefined ? sql`` : sql`and variant = ${variant}`;
  return sql`leads where id > ${after} and id <= ${last} and first_verified_at >= ${from} and first_verified_at < ${to} ${ofVariant}`;
}

export async function* leadGroups(db: Db, part: PartInDays): AsyncGenerator<readonly Group[], void, void> {
  for await (const slice of leadSlices(db, part)) {
    const { rows } = await sql<Group>`
      with named as (
        select ${dayExpression('first_verified_at', part)} as day, attribution, ${domainExpression('email', db)} as domain
        from ${leadsIn(slice, part)}
      )
      select day, attribution, domain, count(*) as people from named group by day, attribution, domain
    `.execute(db);
    yield rows;
  }
}

type LeadColumn = 'answers' | 'attribution' | 'variant';

/** Yields several groups with the same values, which the caller must add up. */
export async function* leadsBy<Column extends LeadColumn>(
  db: Db,
  part: Part,
  columns: readonly Column[],
): AsyncGenerator<
  readonly ({ readonly [Name in Column]: string | null } & { people: number })[],
  void,
  void
> {
  const names = sql.join(columns.map((column) => sql.ref(column)));
  for await (const slice of leadSlices(db, part)) {
    const { rows } = await sql<{ [Name in Column]: string | null } & { people: number }>`
      select ${names}, count(*) as people from ${leadsIn(slice, part)} group by ${names}
    `.execute(db);
    yield rows;
  }
}

export async function variantsOfLeads(db: Db): Promise<readonly string[]> {
  const rows = await db.selectFrom('leads').select('variant').distinct().orderBy('variant').execute();
  return rows.flatMap(({ variant }) => variant ?? []);
}

/** Reads for a limited time, newest leads first. The caller must add up the counts of all calls. */
export async function countDomains(
  db: Db,
  { from, timeLimitMs }: { readonly from: string | null; readonly timeLimitMs: number },
): Promise<{ readonly domains: ReadonlyMap<string, number>; readonly next: string | null }> {
  const until = performance.now() + timeLimitMs;
  const domains = new Map<string, number>();
  for await (const { after, last } of slicesBackwards(db, 'leads', undefined, from)) {
    const { rows } = await sql<{ domain: string; people: number }>`
      with named as (
        select ${domainExpression('email', db)} as domain from leads where id > ${after} and id <= ${last}
      )
      select domain, count(*) as people from named group by domain
    `.execute(db);
    for (const { domain, people } of rows) domains.set(domain, (domains.get(domain) ?? 0) + people);
    if (performance.now() >= until && after !== '') return { domains, next: after };
  }
  return { domains, next: null };
}

export const countLeads = async (db: Db, span: Span): Promise<number> =>
  (await countsBetween(db, 'leads', [span]))[0]!;

/**
 * `open`: mailed and still valid. `wrong-attempts`: only wrong digits. `not-tried`: nothing entered. `refused`: permanently, by
 * the mail server. `waiting`: not mailed yet. `too-late`: expired before mailing. `unknown`: result no longer stored.
 */
export type CodeStatus =
  | 'entered'
  | 'open'
  | 'not-tried'
  | 'wrong-attempts'
  | 'refused'
  | 'waiting'
  | 'too-late'
  | 'unknown';

export const isInSpan = (table: string, { from, to }: Span) =>
  sql`${sql.ref(`${table}.created_at`)} >= ${from} and ${sql.ref(`${table}.created_at`)} < ${to}`;

/** Selects facts about the codes `a` of each `person`, and about their mails `o`. */
export const factsAboutCodes = (span: Span, now: number) => {
  const at = sql.lit(now);
  return sql`
    select p.id, p.email, p.submission_id, p.created_at, count(*) as codes,
    max(case when a.used_at is null then 0 else 1 end) as entered,
    max(case when o.state = 'sent' then 1 else 0 end) as mailed,
    max(case when o.state = 'sent' and a.expires_at > ${at} then 1 else 0 end) as live,
    max(case when o.state = 'failed' then 1 else 0 end) as refused,
    max(case when o.state = 'queued' and a.expires_at > ${at} then 1 else 0 end) as waiting,
    max(case when o.state = 'dropped' or (o.state = 'queued' and a.expires_at <= ${at}) then 1 else 0 end) as late,
    max((select h.wrong_attempts from submissions h where h.id = a.submission_id)) as wrong_attempts,
    max(case when a.used_at is not null and o.state = 'sent' then (a.used_at - o.finished_at) / 1000 end) as seconds
    from person p
    join codes a on a.email = p.email and ${isInSpan('a', span)}
    left join outbox o on o.code_id = a.id and o.kind = 'code'
    group by p.id, p.email, p.submission_id, p.created_at`;
};

/** Of {@link factsAboutCodes} as `f`. */
export const statusOfFacts = sql<CodeStatus>`case
  when f.entered = 1 then 'entered'
  when f.live = 1 then 'open'
  when f.wrong_attempts > 0 then 'wrong-attempts'
  when f.mailed = 1 then 'not-tried'
  when f.refused = 1 then 'refused'
  when f.waiting = 1 then 'waiting'
  when f.late = 1 then 'too-late'
  else 'unknown' end`;

/**
 * Reads the newest leads, then people who asked for a code.
 * @param timeLimitMs time limit for each of the two; by default none
 * @returns attributions as JSON, with numbers of people; some come more than once
 */
export async function* newestAttributions(
  db: Db,
  timeLimitMs = Infinity,
): AsyncGenerator<readonly { readonly attribution: string; readonly people: number }[], void, void> {
  for (const table of ['leads', 'submissions'] as const) {
    const until = performance.now() + timeLimitMs;
    for await (const { after, last } of slicesBackwards(db, table)) {
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

import { sql, type RawBuilder } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { idsAround, lowestIdAt } from '#server/db/engine/ids.ts';
import { SLICE_SIZE, slicesOf } from '#server/db/engine/page-through-table.ts';
import { DAY_MS } from '#server/platform/time.ts';

/** `from` included, `to` excluded. */
export type Span = { readonly from: number; readonly to: number };

export type Part = Span & { readonly variant?: string | undefined };

const isOfVariant = (variant: string | undefined) =>
  variant === undefined ? sql`` : sql`and variant = ${variant}`;

export type Group = {
  /** Days since 1970, in UTC. */
  readonly day: number;
  readonly attribution: string | null;
  readonly domain: string;
  /** May be negative, because it corrects another group. */
  readonly people: number;
};

/** Counts by the day of the first request. Add up the groups. */
export type AskedGroup = Group & {
  readonly fate: CodeStatus;
  readonly mailed: 0 | 1;
  /** From mailing to entry. */
  readonly seconds: number | null;
};

const ROWS_AT_ONCE = 20_000;
const DOMAIN_ROWS_AT_ONCE = 5_000;

const domainExpression = (column: string, engine: OpenDatabase['engine']) =>
  engine === 'postgres'
    ? sql<string>`split_part(${sql.ref(column)}, '@', 2)`
    : sql<string>`case instr(${sql.ref(column)}, '@') when 0 then ''
        else substr(${sql.ref(column)}, instr(${sql.ref(column)}, '@') + 1) end`;

/**
 * Counts every code first, then corrects the few addresses with several codes, because looking for duplicates of each address
 * would take longer.
 * @param atOnce codes per statement; for tests
 * @returns groups, some more than once
 */
export async function* askedGroups(
  { db, engine }: Pick<OpenDatabase, 'db' | 'engine'>,
  { from, to, variant }: Part,
  now: number,
  atOnce = ROWS_AT_ONCE,
): AsyncGenerator<readonly AskedGroup[], void, void> {
  const inSpan = (table: string) =>
    sql`${sql.ref(`${table}.created_at`)} >= ${from} and ${sql.ref(`${table}.created_at`)} < ${to}`;
  const ofVariant =
    variant === undefined
      ? sql``
      : sql`where (select s.variant from submissions s where s.id = facts.submission_id) = ${variant}`;
  const groups = async (facts: RawBuilder<unknown>, sign: 1 | -1) => {
    const { rows } = await sql<AskedGroup>`
      with facts as (${facts}), named as (
        select day, ${domainExpression('email', engine)} as domain, ${statusOfFacts} as fate, mailed, seconds,
          (select s.attribution from submissions s where s.id = facts.submission_id) as attribution
        from facts ${ofVariant}
      )
      select day, attribution, domain, fate, mailed, seconds, ${sql.lit(sign)} * count(*) as people from named
      group by day, attribution, domain, fate, mailed, seconds
    `.execute(db);
    return rows;
  };
  const oneByOne = (codes: RawBuilder<unknown>) => sql`
    select a.id, a.email, a.submission_id, a.created_at / ${sql.lit(DAY_MS)} as day, ${codeFacts(now, 'code')}
    from ${codes}`;

  for await (const { after, last } of slicesOf(
    db,
    { table: 'codes', column: 'id', size: atOnce },
    { begin: lowestIdAt(from), end: lowestIdAt(to) },
  ))
    yield await groups(
      oneByOne(sql`
      codes a left join outbox o on o.code_id = a.id and o.kind = 'code'
        -- The same once more, so that PostgreSQL reads no other mail.
        and o.code_id > ${after} and o.code_id <= ${last}
      where a.id > ${after} and a.id <= ${last}`),
      1,
    );

  for await (const { after, last } of slicesOf(db, { table: 'codes', column: 'email', size: atOnce })) {
    const several = sql`(
      select c.email from codes c where c.email > ${after} and c.email <= ${last} and ${inSpan('c')}
      group by c.email having count(*) > 1
    ) p join codes a on a.email = p.email and ${inSpan('a')}
    left join outbox o on o.code_id = a.id and o.kind = 'code'`;
    yield await groups(oneByOne(several), -1);
    yield await groups(
      sql`select a.email, min(a.created_at) / ${sql.lit(DAY_MS)} as day, ${codeFacts(now, 'person')},
            (select f.submission_id from codes f where f.email = a.email and ${inSpan('f')}
             order by f.created_at, f.id limit 1) as submission_id
          from ${several} group by a.email`,
      1,
    );
  }
}

const LEADS = { table: 'leads', column: 'first_verified_at' } as const;

async function* leadSlices(db: Db, { from, to }: Span) {
  const range = await idsAround(db, LEADS, { since: from, until: to });
  yield* slicesOf(db, { table: 'leads', column: 'id', size: ROWS_AT_ONCE }, range);
}

export async function* leadGroups(
  { db, engine }: Pick<OpenDatabase, 'db' | 'engine'>,
  { from, to, variant }: Part,
): AsyncGenerator<readonly Group[], void, void> {
  for await (const { after, last } of leadSlices(db, { from, to })) {
    const { rows } = await sql<Group>`
      with named as (
        select first_verified_at / ${sql.lit(DAY_MS)} as day, attribution, ${domainExpression('email', engine)} as domain
        from leads where id > ${after} and id <= ${last} and first_verified_at >= ${from} and first_verified_at < ${to}
        ${isOfVariant(variant)}
      )
      select day, attribution, domain, count(*) as people from named group by day, attribution, domain
    `.execute(db);
    yield rows;
  }
}

export type AnswerGroup = {
  readonly answers: string | null;
  readonly attribution: string | null;
  readonly people: number;
};

/**
 * Add up the groups.
 * @param options withAttribution: makes many groups; otherwise it is null
 * @returns answers as JSON, or null
 */
export async function* answerGroups(
  { db }: Pick<OpenDatabase, 'db'>,
  { from, to, variant }: Part,
  { withAttribution }: { readonly withAttribution: boolean },
): AsyncGenerator<readonly AnswerGroup[], void, void> {
  const attribution = withAttribution ? sql`attribution` : sql`null`;
  for await (const { after, last } of leadSlices(db, { from, to })) {
    const { rows } = await sql<AnswerGroup>`
      select answers, ${attribution} as attribution, count(*) as people
      from leads where id > ${after} and id <= ${last} and first_verified_at >= ${from} and first_verified_at < ${to}
      ${isOfVariant(variant)}
      group by answers${withAttribution ? sql`, attribution` : sql``}
    `.execute(db);
    yield rows;
  }
}

export async function isVariantOfLeads(db: Db, variant: string): Promise<boolean> {
  const row = await db
    .selectFrom('leads')
    .select('id')
    .where('variant', '=', variant)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Add up the groups. */
export async function* variantGroups(
  { db }: Pick<OpenDatabase, 'db'>,
  { from, to }: Span,
): AsyncGenerator<readonly { readonly variant: string; readonly people: number }[], void, void> {
  for await (const { after, last } of leadSlices(db, { from, to })) {
    const { rows } = await sql<{ variant: string; people: number }>`
      select variant, count(*) as people
      from leads where id > ${after} and id <= ${last} and variant is not null
      and first_verified_at >= ${from} and first_verified_at < ${to}
      group by variant
    `.execute(db);
    yield rows;
  }
}

/**
 * Reads from the newest for a limited time. Add up the counts of all calls.
 * @param options from: the previous `next`, or null
 */
export async function countDomains(
  { db, engine }: Pick<OpenDatabase, 'db' | 'engine'>,
  { from, forMs }: { readonly from: string | null; readonly forMs: number },
): Promise<{ readonly domains: ReadonlyMap<string, number>; readonly next: string | null }> {
  const until = performance.now() + forMs;
  const domains = new Map<string, number>();
  const cut = { table: 'leads', column: 'id', size: DOMAIN_ROWS_AT_ONCE, newestFirst: true } as const;
  for await (const { after, last } of slicesOf(db, cut, { upTo: from })) {
    const { rows } = await sql<{ domain: string; people: number }>`
      with named as (
        select ${domainExpression('email', engine)} as domain from leads where id > ${after} and id <= ${last}
      )
      select domain, count(*) as people from named group by domain
    `.execute(db);
    for (const { domain, people } of rows) domains.set(domain, (domains.get(domain) ?? 0) + people);
    if (performance.now() >= until && after !== '') return { domains, next: after };
  }
  return { domains, next: null };
}

export async function countLeads(db: Db, { from, to }: Span): Promise<number> {
  let count = 0;
  for await (const { after, last } of leadSlices(db, { from, to })) {
    const row = await db
      .selectFrom('leads')
      .select((eb) => eb.fn.countAll().as('count'))
      .where('id', '>', after)
      .where('id', '<=', last)
      .where('first_verified_at', '>=', from)
      .where('first_verified_at', '<', to)
      .executeTakeFirstOrThrow();
    count += Number(row.count);
  }
  return count;
}

/**
 * `open`: mailed and still valid. `wrong-tries`: only wrong digits. `not-tried`: nothing entered. `refused`: permanently, by
 * the mail server. `waiting`: not mailed yet. `too-late`: expired before mailing. `unknown`: result no longer stored.
 */
export type CodeStatus =
  'entered' | 'open' | 'not-tried' | 'wrong-tries' | 'refused' | 'waiting' | 'too-late' | 'unknown';

const WRONG_TRIES = sql`(select h.wrong_attempts from submissions h where h.id = a.submission_id)`;

/** @param of one code each, or grouped by person */
export const codeFacts = (now: number, of: 'code' | 'person') => {
  const fact = (text: RawBuilder<unknown>) => (of === 'code' ? text : sql`max(${text})`);
  const at = sql.lit(now);
  return sql`
    ${fact(sql`case when a.used_at is null then 0 else 1 end`)} as entered,
    ${fact(sql`case when o.state = 'sent' then 1 else 0 end`)} as mailed,
    ${fact(sql`case when o.state = 'sent' and a.expires_at > ${at} then 1 else 0 end`)} as live,
    ${fact(sql`case when o.state = 'failed' then 1 else 0 end`)} as refused,
    ${fact(sql`case when o.state = 'queued' and a.expires_at > ${at} then 1 else 0 end`)} as waiting,
    ${fact(sql`case when o.state = 'dropped' or (o.state = 'queued' and a.expires_at <= ${at}) then 1 else 0 end`)} as late,
    ${fact(WRONG_TRIES)} as wrong_tries,
    ${fact(sql`case when a.used_at is not null and o.state = 'sent' then (a.used_at - o.finished_at) / 1000 end`)} as seconds`;
};

export const statusOfFacts = sql<CodeStatus>`case
  when entered = 1 then 'entered'
  when live = 1 then 'open'
  when wrong_tries > 0 then 'wrong-tries'
  when mailed = 1 then 'not-tried'
  when refused = 1 then 'refused'
  when waiting = 1 then 'waiting'
  when late = 1 then 'too-late'
  else 'unknown' end`;

export async function* attributionPages(db: Db): AsyncGenerator<readonly string[], void, void> {
  for (const table of ['leads', 'submissions'] as const)
    for await (const { after, last } of slicesOf(db, { table, column: 'id', size: SLICE_SIZE })) {
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
 * Reads the newest leads, then people who asked for a code.
 * @param forMs time limit for each of the two
 * @returns attributions as JSON, with numbers of people; some come more than once
 */
export async function* newestAttributions(
  db: Db,
  forMs: number,
): AsyncGenerator<readonly { readonly attribution: string; readonly people: number }[], void, void> {
  for (const table of ['leads', 'submissions'] as const) {
    const until = performance.now() + forMs;
    const cut = { table, column: 'id', size: SLICE_SIZE, newestFirst: true } as const;
    for await (const { after, last } of slicesOf(db, cut)) {
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

// Figures for the report, counted in slices: no statement lasts, and a million people need no more memory than a thousand.
import { sql } from 'kysely';

import { codeFacts, fateOfFacts, type CodeFate } from '#server/db/code-fates.ts';
import type { Db, OpenDatabase } from '#server/db/connect.ts';
import { lowestIdAt } from '#server/db/ids.ts';

/** From then, and before that. Milliseconds since 1970. */
export type Span = { readonly from: number; readonly to: number };

type Group = {
  /** Days since 1970, in UTC. */
  readonly day: number;
  /** JSON, as it stands beside the first form; null when that was erased. */
  readonly attribution: string | null;
  /** What follows the @, in lower case; empty when the address was erased. */
  readonly domain: string;
  readonly people: number;
};

/** People who asked for a code, on the day they first did in the span. */
export type AskedGroup = Group & {
  readonly fate: CodeFate;
  /** 1: a code was mailed, as far as is known. */
  readonly mailed: 0 | 1;
  /** From the mailing of the code to its entry, in whole seconds; null when it was not entered, or its mail is not kept. */
  readonly seconds: number | null;
};

const ROWS_AT_ONCE = 20_000;
const DAY_MS = 86_400_000;

/** What follows the @ of a column; an address that was erased has none. */
const domainOf = (column: string, engine: OpenDatabase['engine']) =>
  engine === 'postgres'
    ? sql<string>`split_part(${sql.ref(column)}, '@', 2)`
    : sql<string>`case instr(${sql.ref(column)}, '@') when 0 then ''
        else substr(${sql.ref(column)}, instr(${sql.ref(column)}, '@') + 1) end`;

/**
 * Counts who asked for a code in a span: each address once, with the codes of the span.
 * @param now to tell codes that can still be entered; milliseconds since 1970
 * @returns groups, some of which may come more than once
 */
export async function* askedGroups(
  { db, engine }: Pick<OpenDatabase, 'db' | 'engine'>,
  { from, to }: Span,
  now: number,
): AsyncGenerator<readonly AskedGroup[], void, void> {
  for await (const { after, last } of slices(db, 'codes', lowestIdAt(from), lowestIdAt(to))) {
    const { rows } = await sql<AskedGroup>`
      with person as (
        select c.id, c.email, c.challenge_id, c.created_at / ${sql.lit(DAY_MS)} as day from codes c
        where c.id > ${after} and c.id <= ${last} and c.id = (
          select first.id from codes first where first.email = c.email and first.created_at >= ${from}
          order by first.created_at, first.id limit 1
        )
      ), facts as (
        select p.id, p.email, p.challenge_id, p.day,
          max(case when a.used_at is not null and o.state = 'sent' then (a.used_at - o.finished_at) / 1000 end) as seconds,
          ${codeFacts(now)}
        from person p
        join codes a on a.email = p.email and a.created_at >= ${from} and a.created_at < ${to}
        left join outbox o on o.code_id = a.id
        left join challenges h on h.id = a.challenge_id
        group by p.id, p.email, p.challenge_id, p.day
      ), told as (
        select day, ${domainOf('email', engine)} as domain, ${fateOfFacts} as fate, mailed, seconds,
          (select s.attribution from submissions s where s.challenge_id = facts.challenge_id
           order by s.created_at, s.id limit 1) as attribution
        from facts
      )
      select day, attribution, domain, fate, mailed, seconds, count(*) as people from told
      group by day, attribution, domain, fate, mailed, seconds
    `.execute(db);
    yield rows;
  }
}

/** Counts new leads, on the day they were first verified. These are kept when their codes no longer are. */
export async function* leadGroups(
  { db, engine }: Pick<OpenDatabase, 'db' | 'engine'>,
  { from, to }: Span,
): AsyncGenerator<readonly Group[], void, void> {
  for await (const { after, last } of slices(db, 'leads', '', AFTER_EVERY_ID)) {
    const { rows } = await sql<Group>`
      with told as (
        select first_verified_at / ${sql.lit(DAY_MS)} as day, attribution, ${domainOf('email', engine)} as domain
        from leads where id > ${after} and id <= ${last} and first_verified_at >= ${from} and first_verified_at < ${to}
      )
      select day, attribution, domain, count(*) as people from told group by day, attribution, domain
    `.execute(db);
    yield rows;
  }
}

const AFTER_EVERY_ID = 'g';

/** Goes through the ids of a table: each slice begins after one id and ends with another. */
async function* slices(
  db: Db,
  table: 'codes' | 'leads',
  begin: string,
  end: string,
): AsyncGenerator<{ readonly after: string; readonly last: string }, void, void> {
  const idsFrom = (after: string) =>
    db.selectFrom(table).select('id').where('id', '>', after).where('id', '<', end).limit(1);
  for (let after = begin; ;) {
    const row =
      (await idsFrom(after)
        .orderBy('id')
        .offset(ROWS_AT_ONCE - 1)
        .executeTakeFirst()) ?? (await idsFrom(after).orderBy('id', 'desc').executeTakeFirst());
    if (row === undefined) return;
    yield { after, last: row.id };
    after = row.id;
  }
}

import { sql } from 'kysely';

import {
  factsAboutCodes,
  isInSpan,
  statusOfFacts,
  type CodeStatus,
  type Span,
} from '#server/db/queries/report-figures.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { idsBetween } from '#server/db/engine/ids.ts';
import {
  searchBackwards,
  slicesOf,
  type SearchPage,
  type Slice,
} from '#server/db/engine/page-through-table.ts';
import type { LeadAnswers } from '#shared/lead.ts';

export type LostLead = { readonly [Name in keyof LeadAnswers]: LeadAnswers[Name] | null } & {
  readonly id: string;
  readonly email: string;
  readonly submission_id: string | null;
  readonly attribution: string | null;
  readonly asked_at: number;
  readonly codes: number;
  readonly wrong_attempts: number;
  readonly status: Exclude<CodeStatus, 'entered'>;
  readonly reply: string | null;
  readonly error_class: string | null;
};

/**
 * Oldest request first, without erased addresses and anyone who ever became a lead.
 * @returns pages, possibly empty
 */
export async function* lostLeadPages(
  db: Db,
  span: Span,
  now: number,
): AsyncGenerator<readonly LostLead[], void, void> {
  for await (const slice of slicesOf(db, 'codes', idsBetween(span.from, span.to)))
    yield await lostIn(db, slice, span, now);
}

/** Lists the newest requests first. */
export const searchLostLeads = (
  db: Db,
  span: Span,
  { now, from, ...limits }: { now: number; from: string | null; limit: number; timeLimitMs: number },
): Promise<SearchPage<LostLead>> =>
  searchBackwards(
    db,
    'codes',
    idsBetween(span.from, span.to),
    from,
    async (slice) => (await lostIn(db, slice, span, now)).toReversed(),
    limits,
  );

async function lostIn(db: Db, { after, last }: Slice, span: Span, now: number): Promise<readonly LostLead[]> {
  const { rows } = await sql<LostLead>`
    with person as (
      select c.id, c.email, c.submission_id, c.created_at from codes c
      where c.id > ${after} and c.id <= ${last} and c.used_at is null and c.email like '%@%'
      and c.id = (
        select newest.id from codes newest
        where newest.email = c.email and ${isInSpan('newest', span)}
        order by newest.created_at desc, newest.id desc limit 1
      )
      and not exists (select 1 from leads l where l.email = c.email)
    ), facts as (${factsAboutCodes(span, now)})
    select f.id, f.email, s.id as submission_id, s.name, s.company, s.answers, s.attribution, f.created_at as asked_at, f.codes,
      coalesce(f.wrong_attempts, 0) as wrong_attempts, ${statusOfFacts} as status,
      case when m.state = 'dropped' then null else m.reply end as reply, m.error_class
    from facts f
    left join submissions s on s.id = f.submission_id
    left join outbox m on m.code_id = f.id and m.kind = 'code'
    where entered = 0
    order by f.id
  `.execute(db);
  return rows;
}

import { sql, type RawBuilder } from 'kysely';

/**
 * `open`: mailed and can still be entered. `wrong-tries`: only wrong digits. `not-tried`: nothing entered. `refused`: by the mail
 * server, for good. `waiting`: not mailed yet. `too-late`: expired before mailing. `unknown`: result no longer kept.
 */
export type CodeFate =
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

export const fateOfFacts = sql<CodeFate>`case
  when entered = 1 then 'entered'
  when live = 1 then 'open'
  when wrong_tries > 0 then 'wrong-tries'
  when mailed = 1 then 'not-tried'
  when refused = 1 then 'refused'
  when waiting = 1 then 'waiting'
  when late = 1 then 'too-late'
  else 'unknown' end`;

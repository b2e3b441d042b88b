// What became of somebody who asked for a code, told from what is kept about their codes: one word, the same in every list.
import { sql } from 'kysely';

/**
 * `entered`: one of the codes was. `open`: one was mailed and can still be entered. `wrong-tries`: only wrong digits were
 * entered. `not-tried`: mailed, and nothing was entered. `refused`: the mail server refused it for good. `waiting`: the mail
 * has not left yet. `too-late`: the code expired before its mail could leave. `unknown`: what became of the mail is no longer
 * kept.
 */
export type CodeFate =
  'entered' | 'open' | 'not-tried' | 'wrong-tries' | 'refused' | 'waiting' | 'too-late' | 'unknown';

/** Facts about all codes that one person asked for: codes `a`, their mails `o` and challenges `h`. To be grouped by person. */
export const codeFacts = (now: number) => sql`
  max(case when a.used_at is null then 0 else 1 end) as entered,
  max(case when o.state = 'sent' then 1 else 0 end) as mailed,
  max(case when o.state = 'sent' and a.expires_at > ${sql.lit(now)} then 1 else 0 end) as live,
  max(case when o.state = 'failed' then 1 else 0 end) as refused,
  max(case when o.state = 'queued' and a.expires_at > ${sql.lit(now)} then 1 else 0 end) as waiting,
  max(case when o.state = 'dropped' or (o.state = 'queued' and a.expires_at <= ${sql.lit(now)}) then 1 else 0 end) as late,
  max(h.wrong_tries) as wrong_tries`;

/** One word for {@link codeFacts}. */
export const fateOfFacts = sql<CodeFate>`case
  when entered = 1 then 'entered'
  when live = 1 then 'open'
  when wrong_tries > 0 then 'wrong-tries'
  when mailed = 1 then 'not-tried'
  when refused = 1 then 'refused'
  when waiting = 1 then 'waiting'
  when late = 1 then 'too-late'
  else 'unknown' end`;

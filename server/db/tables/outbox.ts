import { sql, type Selectable } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { countRows, hasRow } from '#server/db/engine/row-counts.ts';
import { isQueued, type Schema } from '#server/db/all-tables.ts';
import { isAboutAddress } from '#server/platform/mail-server-replies.ts';
import { HOUR_MS } from '#server/platform/time.ts';

type OutboxRow = Selectable<Schema['outbox']>;

// Literals, like isQueued, so that the databases use their partial indexes.
const isSent = sql<boolean>`state = 'sent'`;
const isRefused = sql<boolean>`state = 'failed'`;

/**
 * The server refused the site rather than the mail, such as for an unpaid account. The mail is retried despite the permanent
 * error, because the operator can correct the cause before a code expires.
 */
export const REFUSES_US = 'refuses us';

/** The server stopped responding, perhaps because it is waiting for the recipient's server. */
export const STALLED = 'stalled';

/** The server dropped the connection after the login, perhaps because a filter rejects this one message. */
export const CUT_OFF = 'cut off';

const DEFERRED = ['4xx', CUT_OFF, REFUSES_US];
/** An error of these classes may concern one recipient or message; others mean that our mail server is away. */
const MAY_CONCERN_ONE_MAIL = [...DEFERRED, STALLED];

export type MailOfCode = Pick<OutboxRow, 'state' | 'created_at' | 'finished_at' | 'error_class'> | undefined;

export async function findMailOfCode(db: Db, codeId: string): Promise<MailOfCode> {
  return db
    .selectFrom('outbox')
    .select(['state', 'created_at', 'finished_at', 'error_class'])
    .where('code_id', '=', codeId)
    .executeTakeFirst();
}

export const findMail = (db: Db, id: string) =>
  db.selectFrom('outbox').select(['recipient', 'created_at']).where('id', '=', id).executeTakeFirst();

export async function wasQueued(db: Db, id: string): Promise<boolean> {
  return hasRow(db.selectFrom('outbox').select('id').where('id', '=', id));
}

export async function isWaiting(
  db: Db,
  { kind, payload }: { readonly kind: string; readonly payload: Readonly<Record<string, unknown>> },
): Promise<boolean> {
  return hasRow(
    db
      .selectFrom('outbox')
      .select('id')
      .where(isQueued)
      .where('kind', '=', kind)
      .where('payload', '=', JSON.stringify(payload)),
  );
}

export async function outboxBacklog(db: Db): Promise<{ depth: number; oldestCreatedAt: number | undefined }> {
  const row = await db
    .selectFrom('outbox')
    .select((eb) => [eb.fn.countAll().as('depth'), eb.fn.min('created_at').as('oldest')])
    .where(isQueued)
    .executeTakeFirstOrThrow();
  return { depth: Number(row.depth), oldestCreatedAt: row.oldest ?? undefined };
}

export const waitingMail = (db: Db) =>
  db
    .selectFrom('outbox')
    .select([
      'recipient_domain',
      sql<number>`count(*)`.as('count'),
      sql<number>`min(created_at)`.as('oldest'),
      sql<number>`sum(case when error_class in (${sql.join(DEFERRED)}) then 1 else 0 end)`.as('put_off'),
    ])
    .where(isQueued)
    .groupBy('recipient_domain')
    .orderBy('oldest')
    .execute();

export async function sendingTimes(
  db: Db,
  { since, limit }: { since: number; limit: number },
): Promise<number[]> {
  const rows = await db
    .selectFrom('outbox')
    .select('finished_at')
    .where(isSent)
    .where('finished_at', '>', since)
    .orderBy('finished_at', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => row.finished_at ?? since);
}

const wasAnySent = async (db: Db, since: number): Promise<boolean> =>
  (await sendingTimes(db, { since, limit: 1 })).length > 0;

/** An error that may concern one mail counts only if it affects this many. */
const MAILS_THAT_MATTER = 5;
/** The mails must come from this many networks, which a stranger with a few domains cannot cause. */
const NETWORKS_THAT_MATTER = 3;

/**
 * Returns true if no mail was sent for `durationMs` although some has been queued for longer. Notices and guides, which a single
 * mailbox or filter can block, count only if our mail server is away.
 */
export async function isMailStuck(
  db: Db,
  { now, durationMs }: { now: number; durationMs: number },
): Promise<boolean> {
  const old = await db
    .selectFrom('outbox')
    .select([
      sql<number>`count(nullif(network, ''))`.as('mails'),
      sql<number>`count(distinct nullif(network, ''))`.as('networks'),
      sql<number>`count(case when error_class not in (${sql.join(MAY_CONCERN_ONE_MAIL)}) then 1 end)`.as(
        'server_away',
      ),
    ])
    .where(isQueued)
    .where('created_at', '<=', now - durationMs)
    .executeTakeFirstOrThrow();
  const isAboutUs =
    old.server_away > 0 || (old.mails >= MAILS_THAT_MATTER && old.networks >= NETWORKS_THAT_MATTER);
  return isAboutUs && !(await wasAnySent(db, now - durationMs));
}

const MAX_REFUSALS_READ = 1_000;

/** Returns true if, within an hour, mail from three networks to three domains was refused and none was sent. */
export async function refusesEverybody(db: Db, now: number): Promise<boolean> {
  const since = now - HOUR_MS;
  if (await wasAnySent(db, since)) return false;
  const replies = db.selectFrom('outbox').select(['network', 'recipient_domain', 'reply']).distinct();
  const refused = await Promise.all(
    [
      replies.where(isRefused).where('finished_at', '>=', since),
      replies.where(isQueued).where('error_class', '=', REFUSES_US),
    ].map((query) => query.where('network', 'is not', null).limit(MAX_REFUSALS_READ).execute()),
  );
  const mails = refused.flat().filter(({ reply }) => !isAboutAddress(reply ?? ''));
  const networks = new Set(mails.map(({ network }) => network));
  const domains = new Set(mails.map(({ recipient_domain: domain }) => domain));
  return networks.size >= NETWORKS_THAT_MATTER && domains.size >= NETWORKS_THAT_MATTER;
}

export async function countRefusals(db: Db, since: number): Promise<number> {
  return countRows(db.selectFrom('outbox').where(isRefused).where('finished_at', '>=', since));
}

export function refusedMail(db: Db, { since, limit }: { readonly since: number; readonly limit: number }) {
  const lastAt = sql<number>`max(finished_at)`;
  return db
    .selectFrom('outbox')
    .select(['recipient_domain', 'reply', sql<number>`count(*)`.as('count'), lastAt.as('last_at')])
    .where(isRefused)
    .where('finished_at', '>=', since)
    .groupBy(['recipient_domain', 'reply'])
    .orderBy(lastAt, 'desc')
    .limit(limit)
    .execute();
}

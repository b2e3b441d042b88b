// Turns separate the mail of networks and domains. They only order, so no connection stays idle. A form is answered 202 only if
// its code can be mailed in time: with 5 mails a second and codes that live 60 s, 76 of 400 simultaneous forms get 202 and the
// others 503 (docs/reliability.md).
import { sql } from 'kysely';

import { isOnPostgres, type Db } from '#server/db/engine/connect.ts';
import { newIdAt } from '#server/db/engine/ids.ts';
import { mailStandsStill, sendingTimes } from '#server/db/tables/outbox.ts';
import { isQueued, takeJobs, type Job, type NewLease } from '#server/jobs/queue.ts';
import { domainOf } from '#server/platform/text.ts';
import { MINUTE_MS } from '#server/platform/time.ts';
import { BACKLOG_SHARE_OF_CODE_LIFE } from '#server/settings/fixed-limits.ts';

export type MailJob = Job<'outbox'>;

export const SMTP_CONNECTIONS = 5;

/** The requesting network (see networkOf), and the recipient's lower-case domain. */
export type Lane = { readonly network: string; readonly domain: string };

export const laneOf = (network: string, recipient: string): Lane => ({
  network,
  domain: domainOf(recipient).toLowerCase(),
});

export type NewMail = {
  readonly id: string;
  readonly kind: string;
  /** Contains no digits of codes, and no personal data stored elsewhere. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly codeId?: string;
  readonly recipient: string;
  readonly place?: Lane & { readonly turnAt: number };
  readonly now: number;
};

/** Call this in the cause's transaction, and wake the worker after the commit. */
export async function addMail(tx: Db, mail: NewMail): Promise<void> {
  await tx.insertInto('outbox').values(rowOf(mail)).execute();
}

/**
 * Adds one mail per recipient instead of one with several in To, so that a server that refuses one address, or answers for
 * it slowly, cannot keep the mail from the others. Each is retried on its own.
 */
export async function addMails(
  tx: Db,
  recipients: readonly string[],
  mail: Omit<NewMail, 'id' | 'recipient'>,
): Promise<void> {
  for (const recipient of recipients) await addMail(tx, { ...mail, id: newIdAt(mail.now), recipient });
}

export async function addMailOnce(db: Db, mail: NewMail): Promise<void> {
  await db
    .insertInto('outbox')
    .values(rowOf(mail))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

const rowOf = ({ id, kind, payload, codeId, recipient, place, now }: NewMail) => ({
  id,
  kind,
  payload: JSON.stringify(payload),
  code_id: codeId ?? null,
  recipient,
  network: place?.network ?? null,
  recipient_domain: place?.domain ?? null,
  due_at: now,
  turn_at: place?.turnAt ?? now,
  created_at: now,
});

/** @param lease fullLanes: networks and domains whose mail must wait */
export function takeMail(
  db: Db,
  { fullLanes, ...lease }: NewLease & { readonly fullLanes: readonly string[] },
): Promise<MailJob[]> {
  // One parameter, so the prepared statement stays the same.
  const json = JSON.stringify(fullLanes);
  const full = isOnPostgres(db)
    ? sql`select jsonb_array_elements_text(${json}::jsonb)`
    : sql`select value from json_each(${json})`;
  return takeJobs(db, 'outbox', {
    ...lease,
    which: sql<boolean>`(network is null or network not in (${full}))
      and (recipient_domain is null or recipient_domain not in (${full}))`,
  });
}

const NETWORK_STEP_MS = 1_000;
/** Shorter, because half of all visitors may share a domain. */
const DOMAIN_STEP_MS = 100;
const BACKLOG_WITHOUT_WAITING = SMTP_CONNECTIONS;
const RETRY_AFTER_SECONDS = { least: 10, unknown: 60, most: 600 };

export type Turn =
  | { readonly type: 'found'; readonly turnAt: number }
  | { readonly type: 'refused'; readonly retryAfterSeconds: number };

/**
 * Finds the turn of a new mail. It never precedes earlier mail in its lane, and is never later than a code may wait, so
 * every mail is sent eventually.
 */
export async function findTurn(
  tx: Db,
  { network, domain }: Lane,
  { now, codeTtlSeconds }: { now: number; codeTtlSeconds: number },
): Promise<Turn> {
  const mostWaitMs = mostWaitOf(codeTtlSeconds);
  const queue = await tx
    .selectFrom('outbox')
    .select([
      sql<number>`count(*)`.as('waiting'),
      sql<number | null>`max(case when attempts = 0 and network = ${network} then turn_at end)`.as(
        'last_of_network',
      ),
      // Without guides, which have no network and are put off (guide-mail.ts).
      sql<
        number | null
      >`max(case when attempts = 0 and network <> '' and recipient_domain = ${domain} then turn_at end)`.as(
        'last_of_domain',
      ),
    ])
    .where(isQueued)
    .executeTakeFirstOrThrow();
  if (queue.waiting > 0 && (await mailStandsStill(tx, { now, forMs: mostWaitMs })))
    return { type: 'refused', retryAfterSeconds: RETRY_AFTER_SECONDS.unknown };
  const excessMs =
    queue.waiting <= BACKLOG_WITHOUT_WAITING
      ? 0
      : (await expectedWaitMs(tx, { network, domain }, now)) - mostWaitMs;
  if (excessMs > 0) return { type: 'refused', retryAfterSeconds: retryAfter(excessMs) };
  const turnAt = Math.max(
    now,
    (queue.last_of_network ?? 0) + NETWORK_STEP_MS,
    (queue.last_of_domain ?? 0) + DOMAIN_STEP_MS,
  );
  return { type: 'found', turnAt: Math.min(turnAt, now + mostWaitMs) };
}

const retryAfter = (ms: number): number =>
  Math.min(Math.max(Math.ceil(ms / 1000), RETRY_AFTER_SECONDS.least), RETRY_AFTER_SECONDS.most);

/** `behind` means that mail is too slow; `still` means that none is sent. */
export async function stateOfMail(
  db: Db,
  { now, codeTtlSeconds }: { now: number; codeTtlSeconds: number },
): Promise<'in time' | 'behind' | 'still'> {
  const mostWaitMs = mostWaitOf(codeTtlSeconds);
  if (await mailStandsStill(db, { now, forMs: mostWaitMs })) return 'still';
  return (await expectedWaitMs(db, NEWCOMER, now)) > mostWaitMs ? 'behind' : 'in time';
}

const NEWCOMER: Lane = { network: 'newcomer', domain: 'newcomer' };

const mostWaitOf = (codeTtlSeconds: number): number => codeTtlSeconds * 1000 * BACKLOG_SHARE_OF_CODE_LIFE;

/** Postponed mail from this many networks counts as a queue. */
const MANY_PUT_OFF = 50;

/**
 * Estimates how long a new mail would wait. Networks take turns, so of each other network at most one mail more than ours has
 * waiting goes first: with 20 mails from A, 1 from B and none from our network, 2 are ahead. Domains whose server is silent do
 * not count, because they hold up no other mail.
 */
async function expectedWaitMs(db: Db, { network, domain }: Lane, now: number): Promise<number> {
  const lanes = await db
    .selectFrom('outbox')
    .select([
      'network',
      sql<number>`sum(case when due_at <= ${now} then 1 else 0 end)`.as('due'),
      sql<number>`sum(case when due_at > ${now} then 1 else 0 end)`.as('put_off'),
      sql<number>`min(created_at)`.as('since'),
      sql<number | null>`min(case when attempts = 0 then created_at end)`.as('untried_since'),
    ])
    .where(isQueued)
    .where(
      sql<boolean>`(recipient_domain is null or recipient_domain = ${domain} or recipient_domain not in (
      select recipient_domain from outbox
      where state = 'queued' and error_class = 'stalled' and recipient_domain is not null
    ))`,
    )
    .groupBy('network')
    .execute();
  const own = lanes.find((lane) => lane.network === network)?.due ?? 0;
  const due = lanes.reduce(
    (sum, lane) => sum + (lane.network === network ? own : Math.min(lane.due, own + 1)),
    0,
  );
  const putOff = lanes.filter((lane) => lane.put_off > 0).length;
  const isPutOff = putOff >= MANY_PUT_OFF;
  const ahead = isPutOff ? due + putOff : due;
  if (ahead <= BACKLOG_WITHOUT_WAITING) return 0;
  const since = Math.min(now, ...lanes.map((lane) => (isPutOff ? lane.since : (lane.untried_since ?? now))));
  return (ahead / (await mailsPerSecond(db, since, now))) * 1000;
}

const ASSUMED_PER_SECOND = SMTP_CONNECTIONS;
const SAMPLE_SIZE = 50;
/** A silent mail server causes a timeout, so earlier deliveries to other servers mean little. */
const SILENCE_MS = 15_000;

async function mailsPerSecond(db: Db, busySince: number, now: number): Promise<number> {
  const since = Math.max(busySince, now - MINUTE_MS);
  const sentAt = await sendingTimes(db, { since, most: SAMPLE_SIZE });
  const isEnough = sentAt.length > SMTP_CONNECTIONS;
  if (sentAt.length === 0 || (!isEnough && now - busySince < SILENCE_MS)) return ASSUMED_PER_SECOND;
  // Excludes an earlier outage, which says nothing about the current pace.
  const from = isEnough ? Math.min(...sentAt) : since;
  return sentAt.length / Math.max(1, (now - from) / 1000);
}

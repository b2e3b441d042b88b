// The mail queue. Each mail is in two lanes: that of the network that requested it, and that of its recipient's domain.
// Its turn is a time, a step after the last turn in either lane, and mail is sent in the order of turns. Therefore the mail of
// others overtakes a burst from one network or to one domain (docs/reliability.md). Due mail is sent even before its turn, so
// no connection stays idle.
import { sql } from 'kysely';

import { isQueued } from '#server/db/all-tables.ts';
import { isOnPostgres, type Db } from '#server/db/engine/connect.ts';
import { newIdAt } from '#server/db/engine/ids.ts';
import { isMailStuck, sendingTimes, STALLED } from '#server/db/tables/outbox.ts';
import { takeJobs, type Job, type NewLease } from '#server/jobs/queue.ts';
import { domainOf } from '#server/platform/text.ts';
import { MINUTE_MS } from '#server/platform/time.ts';
import { BACKLOG_SHARE_OF_CODE_LIFE } from '#server/settings/fixed-limits.ts';

export type MailJob = Job<'outbox'>;

export const SMTP_CONNECTIONS = 5;

/** Names a mail's two lanes: the requesting network (see networkOf), and the recipient's lower-case domain. */
export type Lanes = { readonly network: string; readonly domain: string };

export const lanesOf = (network: string, recipient: string): Lanes => ({
  network,
  domain: domainOf(recipient).toLowerCase(),
});

/**
 * The network of guides, which share this lane: they delay each other but never a code. Notices have neither a network nor a
 * domain in the queue (null), so they are in no lane.
 */
export const NETWORK_OF_GUIDES = '';

export type NewMail = {
  readonly id: string;
  readonly kind: string;
  /** Contains no digits of codes, and no personal data stored elsewhere. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly codeId?: string;
  readonly recipient: string;
  readonly place?: Lanes & { readonly turnAt: number };
  readonly now: number;
};

/** Call this in the cause's transaction, and wake the worker after the commit. */
export async function addMail(tx: Db, mail: NewMail): Promise<void> {
  await tx.insertInto('outbox').values(rowOf(mail)).execute();
}

/**
 * Adds one mail per recipient instead of one with several in To, so that a server that refuses one address, or responds
 * slowly for it, does not keep the mail from the others. Each is retried on its own.
 */
export async function addMails(
  tx: Db,
  recipients: readonly string[],
  mail: Omit<NewMail, 'id' | 'recipient' | 'place' | 'codeId'>,
): Promise<void> {
  for (const recipient of recipients) await addMail(tx, { ...mail, id: newIdAt(mail.now), recipient });
}

/** For mail whose ID is derived from its cause, which may be found twice. */
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

/** @param lease fullLanes: networks and domains that have no free SMTP connection. No domain looks like a network. */
export function takeMail(
  db: Db,
  { fullLanes, ...lease }: NewLease & { readonly fullLanes: readonly string[] },
): Promise<MailJob[]> {
  // One list, because a parameter per lane would change the statement, which could not stay prepared.
  const json = JSON.stringify(fullLanes);
  const full = isOnPostgres(db)
    ? sql`select jsonb_array_elements_text(${json}::jsonb)`
    : sql`select value from json_each(${json})`;
  return takeJobs(db, 'outbox', {
    ...lease,
    condition: sql<boolean>`(network is null or network not in (${full}))
      and (recipient_domain is null or recipient_domain not in (${full}))`,
    order: sql`turn_at, id`,
  });
}

const NETWORK_STEP_MS = 1_000;
/** Shorter, because half of all visitors may share a domain. */
const DOMAIN_STEP_MS = 100;
const BACKLOG_WITHOUT_WAITING = SMTP_CONNECTIONS;
const RETRY_AFTER_SECONDS = { min: 10, unknown: 60, max: 600 };

export type Turn =
  | { readonly type: 'found'; readonly turnAt: number }
  | { readonly type: 'refused'; readonly retryAfterSeconds: number };

/**
 * Finds the turn of a new mail. It never precedes earlier mail in its lanes, except guides, and is never later than a code may
 * wait, so every mail is sent eventually. Refuses a mail that could not be sent in time, because 202 promises a code: with 5
 * mails a second and codes that live 60 s, 76 of 400 simultaneous forms get 202 and the others 503.
 */
export async function findTurn(
  tx: Db,
  lanes: Lanes,
  { now, codeTtlSeconds }: { now: number; codeTtlSeconds: number },
): Promise<Turn> {
  const { network, domain } = lanes;
  const maxWaitMs = maxWaitMsOf(codeTtlSeconds);
  const queue = await tx
    .selectFrom('outbox')
    .select([
      sql<number>`count(*)`.as('waiting'),
      sql<number | null>`max(case when attempts = 0 and network = ${network} then turn_at end)`.as(
        'last_of_network',
      ),
      // Without guides, whose turns are minutes later (guide-mail.ts).
      sql<
        number | null
      >`max(case when attempts = 0 and network <> ${NETWORK_OF_GUIDES} and recipient_domain = ${domain} then turn_at end)`.as(
        'last_of_domain',
      ),
    ])
    .where(isQueued)
    .executeTakeFirstOrThrow();
  // Both comparisons with `waiting` only save a query.
  if (queue.waiting > 0 && (await isMailStuck(tx, { now, durationMs: maxWaitMs })))
    return { type: 'refused', retryAfterSeconds: RETRY_AFTER_SECONDS.unknown };
  const excessMs =
    queue.waiting <= BACKLOG_WITHOUT_WAITING ? 0 : (await expectedWaitMs(tx, lanes, now)) - maxWaitMs;
  if (excessMs > 0) return { type: 'refused', retryAfterSeconds: retryAfter(excessMs) };
  const turnAt = Math.max(
    now,
    (queue.last_of_network ?? 0) + NETWORK_STEP_MS,
    (queue.last_of_domain ?? 0) + DOMAIN_STEP_MS,
  );
  return { type: 'found', turnAt: Math.min(turnAt, now + maxWaitMs) };
}

const retryAfter = (ms: number): number =>
  Math.min(Math.max(Math.ceil(ms / 1000), RETRY_AFTER_SECONDS.min), RETRY_AFTER_SECONDS.max);

/** `behind` means that mail is too slow; `stuck` means that none is sent. */
export async function stateOfMail(
  db: Db,
  { now, codeTtlSeconds }: { now: number; codeTtlSeconds: number },
): Promise<'in time' | 'behind' | 'stuck'> {
  const maxWaitMs = maxWaitMsOf(codeTtlSeconds);
  if (await isMailStuck(db, { now, durationMs: maxWaitMs })) return 'stuck';
  return (await expectedWaitMs(db, NEWCOMER, now)) > maxWaitMs ? 'behind' : 'in time';
}

const NEWCOMER: Lanes = { network: 'newcomer', domain: 'newcomer' };

const maxWaitMsOf = (codeTtlSeconds: number): number => codeTtlSeconds * 1000 * BACKLOG_SHARE_OF_CODE_LIFE;

/** Estimates how long a new mail would wait. */
async function expectedWaitMs(db: Db, { network, domain }: Lanes, now: number): Promise<number> {
  const networks = await waitingByNetwork(db, domain, now);
  const deferredNetworks = networks.filter((one) => one.deferred > 0).length;
  const areManyDeferred = deferredNetworks >= MANY_DEFERRED;
  // One mail of each, because networks take turns.
  const deferredAhead = areManyDeferred ? deferredNetworks : 0;
  const ahead = dueAhead(networks, network) + deferredAhead;
  if (ahead <= BACKLOG_WITHOUT_WAITING) return 0;
  // Deliveries since a mail has been waiting show how fast mail is sent; earlier ones may only show how fast forms arrived. Mail
  // that waits for another attempt shows a backlog only if there is much of it.
  const busySince = Math.min(
    now,
    ...networks.map((one) => (areManyDeferred ? one.since : (one.untried_since ?? now))),
  );
  return (ahead / (await mailsPerSecond(db, busySince, now))) * 1000;
}

/**
 * Mail waiting for another attempt delays new mail only if it comes from this many networks: then our mail server accepts a few
 * mails and defers the rest. For fewer, recipients' servers are the likelier reason. The number is an estimate, not a
 * measurement.
 */
const MANY_DEFERRED = 50;

/** Leaves out each other domain that has stalled mail, because its silent server holds up no other mail. */
const waitingByNetwork = (db: Db, domain: string, now: number) =>
  db
    .selectFrom('outbox')
    .select([
      'network',
      sql<number>`sum(case when due_at <= ${now} then 1 else 0 end)`.as('due'),
      sql<number>`sum(case when due_at > ${now} then 1 else 0 end)`.as('deferred'),
      sql<number>`min(created_at)`.as('since'),
      sql<number | null>`min(case when attempts = 0 then created_at end)`.as('untried_since'),
    ])
    .where(isQueued)
    .where(
      sql<boolean>`(recipient_domain is null or recipient_domain = ${domain} or recipient_domain not in (
      select recipient_domain from outbox
      where state = 'queued' and error_class = ${sql.lit(STALLED)} and recipient_domain is not null
    ))`,
    )
    .groupBy('network')
    .execute();

/**
 * Counts the due mails before a new one. Networks take turns, so of each other network at most one mail more than ours has
 * waiting goes first: with 20 mails from A, 1 from B and none from our network, 2 are ahead.
 */
function dueAhead(
  networks: readonly { readonly network: string | null; readonly due: number }[],
  ownNetwork: string,
): number {
  const own = networks.find(({ network }) => network === ownNetwork)?.due ?? 0;
  return networks.reduce(
    (sum, other) => sum + (other.network === ownNetwork ? own : Math.min(other.due, own + 1)),
    0,
  );
}

/** One mail a second per connection, until measured. */
const ASSUMED_PER_SECOND = SMTP_CONNECTIONS;
const SAMPLE_SIZE = 50;
/** Longer than the timeout of a silent mail server, which holds up a connection without being our pace. */
const SILENCE_MS = 15_000;

/**
 * Measures the pace since the backlog began, or during the last minute. With more than one delivery per connection, it counts
 * from the first of them. With fewer, the assumed pace holds until the backlog has lasted for SILENCE_MS.
 */
async function mailsPerSecond(db: Db, busySince: number, now: number): Promise<number> {
  const since = Math.max(busySince, now - MINUTE_MS);
  const sentAt = await sendingTimes(db, { since, limit: SAMPLE_SIZE });
  const isEnough = sentAt.length > SMTP_CONNECTIONS;
  // A few deliveries in a longer time show a slow pace. None shows nothing: isMailStuck decides whether there is an outage.
  if (sentAt.length === 0 || (!isEnough && now - busySince < SILENCE_MS)) return ASSUMED_PER_SECOND;
  // Excludes an earlier outage, which says nothing about the current pace.
  const from = isEnough ? Math.min(...sentAt) : since;
  return sentAt.length / Math.max(1, (now - from) / 1000);
}

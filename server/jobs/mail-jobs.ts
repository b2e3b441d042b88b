// The mail queue, with fair queueing: each mail gets a virtual time (turn_at), and mail is sent in this order. The time is one
// step after the last mail of its network, and at least one smaller step per mail that waits for its recipient's domain. So the
// mail of others overtakes a burst from one network or to one domain (docs/reliability.md). The time is only a sort key: due mail
// is sent even if its turn is in the future, so no connection stays idle. mail-worker.ts retries failed mail.
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

/** A mail's two lanes: the requesting network (see networkOf), and the recipient's lower-case domain. */
export type Lanes = { readonly network: string; readonly domain: string };

export const lanesOf = (network: string, recipient: string): Lanes => ({
  network,
  domain: domainOf(recipient).toLowerCase(),
});

/**
 * The network of all guide mails, so they take each other's connections (connection-shares.ts), and their turns come minutes later
 * (guide-mail.ts). Mail to operators has no lanes (null).
 */
export const NETWORK_OF_GUIDES = '';

export type NewMail = {
  readonly id: string;
  readonly kind: string;
  /** Refers to stored personal data by ID instead of copying it, and never contains the digits of a code. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly codeId?: string;
  readonly recipient: string;
  readonly place?: Lanes & { readonly turnAt: number };
  readonly now: number;
};

/** Call this in the transaction of the mail's cause, and wake the worker after the commit. */
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

/** For mail whose ID is derived from its cause: if two processes find the cause, the second insert does nothing. */
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

export function takeMail(
  db: Db,
  {
    fullLanes,
    ...lease
  }: NewLease & {
    /** Networks and domains without a free SMTP connection. No domain looks like a network. */
    readonly fullLanes: readonly string[];
  },
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

/** A network that asks more often than once a second gets later turns than others. */
const NETWORK_STEP_MS = 1_000;
/** Per mail that waits for the domain. Shorter, because half of all visitors may share one. */
const DOMAIN_STEP_MS = 100;
/** One mail per connection. */
const BACKLOG_WITHOUT_WAITING = SMTP_CONNECTIONS;
const RETRY_AFTER_SECONDS = { min: 10, unknown: 60, max: 600 };

export type Turn =
  | { readonly type: 'found'; readonly turnAt: number }
  | { readonly type: 'refused'; readonly retryAfterSeconds: number };

/**
 * Finds the turn of a new mail, at most as long from now as a code may wait, so every mail is sent eventually. Refuses a mail that could
 * not be sent in time, because 202 promises a code: a code that lives 60 s may wait 15 s; at 5 mails a second, 76 of 400
 * simultaneous forms get 202 and the others 503. On PostgreSQL, simultaneous calls do not see each other's mail, so a few may find
 * the same turn.
 */
export async function findTurn(
  tx: Db,
  lanes: Lanes,
  { now, codeTtlSeconds }: { now: number; codeTtlSeconds: number },
): Promise<Turn> {
  const { network, domain } = lanes;
  const maxWaitMs = maxWaitMsOf(codeTtlSeconds);
  // New mail follows only mail that was never leased (attempts = 0), because a retry moves a mail's turn to the time of the next
  // attempt. Nor does it follow guides, whose turns come minutes later (guide-mail.ts).
  const queue = await tx
    .selectFrom('outbox')
    .select([
      sql<number>`count(*)`.as('waiting'),
      sql<number | null>`max(case when attempts = 0 and network = ${network} then turn_at end)`.as(
        'last_of_network',
      ),
      sql<number>`count(case when attempts = 0 and network <> ${NETWORK_OF_GUIDES} and recipient_domain = ${domain} then 1 end)`.as(
        'waiting_at_domain',
      ),
    ])
    .where(isQueued)
    .executeTakeFirstOrThrow();
  // Both comparisons with `waiting` only save a query, whose result would be the same.
  if (queue.waiting > 0 && (await isMailStuck(tx, { now, durationMs: maxWaitMs })))
    return { type: 'refused', retryAfterSeconds: RETRY_AFTER_SECONDS.unknown };
  if (queue.waiting > BACKLOG_WITHOUT_WAITING) {
    const excessMs = (await expectedWaitMs(tx, lanes, now)) - maxWaitMs;
    if (excessMs > 0) return { type: 'refused', retryAfterSeconds: retryAfterSeconds(excessMs) };
  }
  const turnAt = Math.max(
    now,
    (queue.last_of_network ?? 0) + NETWORK_STEP_MS,
    now + queue.waiting_at_domain * DOMAIN_STEP_MS,
  );
  return { type: 'found', turnAt: Math.min(turnAt, now + maxWaitMs) };
}

const retryAfterSeconds = (ms: number): number =>
  Math.min(Math.max(Math.ceil(ms / 1000), RETRY_AFTER_SECONDS.min), RETRY_AFTER_SECONDS.max);

/** `behind` means that mail is too slow; `stuck` means that none is sent. */
export async function stateOfMail(
  db: Db,
  { now, codeTtlSeconds }: { now: number; codeTtlSeconds: number },
): Promise<'in time' | 'behind' | 'stuck'> {
  const maxWaitMs = maxWaitMsOf(codeTtlSeconds);
  if (await isMailStuck(db, { now, durationMs: maxWaitMs })) return 'stuck';
  return (await expectedWaitMs(db, UNUSED_LANES, now)) > maxWaitMs ? 'behind' : 'in time';
}

/** A network and a domain without queued mail. */
const UNUSED_LANES: Lanes = { network: 'newcomer', domain: 'newcomer' };

const maxWaitMsOf = (codeTtlSeconds: number): number => codeTtlSeconds * 1000 * BACKLOG_SHARE_OF_CODE_LIFE;

/**
 * If at least this many networks have deferred mail (waiting for another attempt), our mail server probably accepts only a few
 * mails at a time, so deferred mail delays new mail. For fewer, recipients' servers are the likelier reason, and deferred mail
 * does not count. The number is an estimate, not a measurement.
 */
const MANY_DEFERRED_NETWORKS = 50;

/** Estimates how long a new mail would wait. */
async function expectedWaitMs(db: Db, { network, domain }: Lanes, now: number): Promise<number> {
  const networks = await queuedByNetwork(db, domain, now);
  const deferredNetworks = networks.filter(({ deferred }) => deferred > 0).length;
  const countsDeferred = deferredNetworks >= MANY_DEFERRED_NETWORKS;
  // At least one deferred mail of each network: how many more will be due before the new mail is unknown.
  const ahead = dueAhead(networks, network) + (countsDeferred ? deferredNetworks : 0);
  if (ahead <= BACKLOG_WITHOUT_WAITING) return 0;
  // The rate is measured while mail was queued. Before, it may only have been as high as the rate of arriving forms.
  const busySince = Math.min(
    now,
    ...networks.map(({ oldest, oldest_never_leased }) =>
      countsDeferred ? oldest : (oldest_never_leased ?? now),
    ),
  );
  return (ahead / (await mailsPerSecond(db, busySince, now))) * 1000;
}

/** Leaves out other domains whose mail server was silent, because connection-shares.ts keeps them from delaying our mail. */
const queuedByNetwork = (db: Db, domain: string, now: number) =>
  db
    .selectFrom('outbox')
    .select([
      'network',
      sql<number>`sum(case when due_at <= ${now} then 1 else 0 end)`.as('due'),
      sql<number>`sum(case when due_at > ${now} then 1 else 0 end)`.as('deferred'),
      sql<number>`min(created_at)`.as('oldest'),
      sql<number | null>`min(case when attempts = 0 then created_at end)`.as('oldest_never_leased'),
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
 * Counts the due mails before a new one. All guides together count as one network. If n mails of its network are due, about n + 1
 * of each other network go first: with 20 mails from A, 1 from B and none from its network, 2 are ahead. If the turns of bursts
 * from many networks have passed, more go first; only the breaker prevents such bursts.
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
/** Longer than the timeout for connecting to a silent mail server, because such a wait says nothing about the rate. */
const SILENCE_MS = 15_000;

/**
 * Measures the rate of the newest deliveries since `busySince`, or within the last minute. If there are too few of them, returns
 * ASSUMED_PER_SECOND until mail has been queued for SILENCE_MS.
 */
async function mailsPerSecond(db: Db, busySince: number, now: number): Promise<number> {
  const since = Math.max(busySince, now - MINUTE_MS);
  const sentAt = await sendingTimes(db, { since, limit: SAMPLE_SIZE });
  const isEnough = sentAt.length > SMTP_CONNECTIONS;
  // After SILENCE_MS, a few deliveries show a low rate. None shows nothing: isMailStuck detects outages.
  if (sentAt.length === 0 || (!isEnough && now - busySince < SILENCE_MS)) return ASSUMED_PER_SECOND;
  // Starting at the first delivery excludes an earlier outage.
  const from = isEnough ? Math.min(...sentAt) : since;
  return sentAt.length / Math.max(1, (now - from) / 1000);
}

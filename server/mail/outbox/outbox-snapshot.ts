// What waits in the outbox and how fast it is sent, as one look at the database shows it. Whether a new mail is sent in time is
// judged from this in backlog.ts.
import { MINUTE_MS } from '#server/platform/time.ts';
import type { Db } from '#server/db/engine/connect.ts';
import {
  countDeliveries,
  findStandstill,
  newestDeliveries,
  waitingMail,
  type Standstill,
  type WaitingMail,
} from '#server/db/tables/outbox-waiting.ts';
import { SMTP_CONNECTIONS } from '#server/mail/mailer.ts';

/** Up to this number of waiting mails there is no queue: each has a connection. */
export const NO_QUEUE = SMTP_CONNECTIONS;
/** Mails a second while the pace is unknown. */
const ASSUMED_PER_SECOND = SMTP_CONNECTIONS;
/** Maximum number of deliveries from which the pace is computed. */
const SAMPLE_SIZE = 50;
/** The pace is that of a queue once mail has waited for this time. */
const BUSY_FOR_MS = 1_000;
/** Mail that waits for another try is a queue, too, for a mail with this many before it: a mail server may take a few and put off the rest. */
const MANY_AHEAD = 50;
/** Until then, a few deliveries beside a silent mail server say nothing about the pace: its silence ends in a timeout first. */
const SILENCE_MS = 15_000;
/** Trouble at this many domains, for this many networks, is not one stranger's doing. */
const LANES_THAT_MATTER = 3;

export type OutboxSnapshot = {
  /** How many mails wait, by network and recipient domain. */
  readonly waiting: Map<string, Map<string, number>>;
  /** Domains whose mail waits because of their mail server, and delays no other mail. */
  readonly troubledDomains: ReadonlySet<string>;
  /** For whom no mail has been sent lately; null while mail is sent. */
  readonly standstill: Standstill | null;
  /** Mails sent a second while there was a queue, for a mail with this many before it; an assumption when that is unknown. */
  readonly pacePerSecond: (ahead: number) => number;
};

/**
 * Looks at the outbox.
 * @param at now: milliseconds since 1970; mostWaitMs: after which a mail that waits means that mail stands still
 */
export async function takeOutboxSnapshot(
  db: Db,
  { now, codeTtlSeconds, mostWaitMs }: { now: number; codeTtlSeconds: number; mostWaitMs: number },
): Promise<OutboxSnapshot> {
  const mails = await waitingMail(db);
  const troubledDomains = findTroubledDomains(mails);
  const waiting = new Map<string, Map<string, number>>();
  let total = 0;
  let oldest = now;
  let oldestUntried = now;
  for (const { network, domain, count, oldestCreatedAt, untriedSince } of mails) {
    const own = waiting.get(network) ?? new Map<string, number>();
    waiting.set(network, own.set(domain, count));
    total += count;
    oldest = Math.min(oldest, oldestCreatedAt);
    if (!troubledDomains.has(domain)) oldestUntried = Math.min(oldestUntried, untriedSince ?? now);
  }
  const isQueue = total > NO_QUEUE;
  const busyPace = isQueue ? await findPace(db, oldestUntried, now) : null;
  const retryPace = isQueue ? await findPace(db, oldest, now) : null;
  const assumed = await assumedPace(db, { total, now, codeTtlSeconds });
  return {
    waiting,
    troubledDomains,
    standstill: now - oldest >= mostWaitMs ? await findStandstill(db, { now, forMs: mostWaitMs }) : null,
    pacePerSecond: (ahead) => busyPace ?? (ahead >= MANY_AHEAD ? retryPace : null) ?? assumed,
  };
}

/** A page that has mailed fifty codes a second lately has a mail server that can. */
async function assumedPace(
  db: Db,
  { total, now, codeTtlSeconds }: { total: number; now: number; codeTtlSeconds: number },
): Promise<number> {
  if (total <= NO_QUEUE) return ASSUMED_PER_SECOND;
  const lately = await countDeliveries(db, now - codeTtlSeconds * 1000);
  return Math.max(ASSUMED_PER_SECOND, lately / codeTtlSeconds);
}

/** Mails a second since the queue is busy, for a minute at most; null when it is not busy, or too little is sent to say. */
async function findPace(db: Db, busySince: number, now: number): Promise<number | null> {
  if (now - busySince < BUSY_FOR_MS) return null;
  const since = Math.max(busySince, now - MINUTE_MS);
  const sentAt = await newestDeliveries(db, { since, most: SAMPLE_SIZE });
  const isEnough = sentAt.length > SMTP_CONNECTIONS;
  if (sentAt.length === 0 || (!isEnough && now - busySince < SILENCE_MS)) return null;
  // From the first delivery on: the time of an outage before it says nothing about the pace now.
  const from = isEnough ? Math.min(...sentAt) : since;
  return sentAt.length / Math.max(1, (now - from) / 1000);
}

/**
 * Domains at which the mail server falls silent, or puts off most of what waits. If it puts off mail at several domains and for
 * several networks, the trouble is ours: then all of that mail counts as waiting.
 */
function findTroubledDomains(mails: readonly WaitingMail[]): Set<string> {
  const byDomain = new Map<string, { count: number; putOff: number; stalled: number }>();
  const networksPutOff = new Set<string>();
  for (const { network, domain, count, putOff, stalled } of mails) {
    const sums = byDomain.get(domain) ?? { count: 0, putOff: 0, stalled: 0 };
    sums.count += count;
    sums.putOff += putOff;
    sums.stalled += stalled;
    byDomain.set(domain, sums);
    if (putOff > 0) networksPutOff.add(network);
  }
  const silent = [...byDomain].filter(([, { stalled }]) => stalled > 0);
  const puttingOff = [...byDomain].filter(([, { count, putOff }]) => putOff * 2 >= count && putOff > 0);
  const isOurs = puttingOff.length >= LANES_THAT_MATTER && networksPutOff.size >= LANES_THAT_MATTER;
  return new Set([...silent, ...(isOurs ? [] : puttingOff)].map(([domain]) => domain));
}

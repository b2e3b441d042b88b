// Whether a mail that is queued now would be sent in time. A 202 promises a code; when the mail server does not keep up,
// a 503 is the honest answer, and the visitor who comes back gets a code that works.
import { countDeliveries, findStandstill, newestDeliveries, waitingMail } from '#server/db/tables/outbox.ts';
import type { Lane, Standstill, WaitingMail } from '#server/db/tables/outbox.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { MINUTE_MS } from '#server/platform/time.ts';
import { BACKLOG_SHARE_OF_CODE_LIFE } from '#server/settings/tries-and-rates.ts';
import { SMTP_CONNECTIONS } from '#server/mail/mailer.ts';

/** How long one process trusts its last look at the database; what it queues itself meanwhile, it counts. */
const LOOK_EVERY_MS = 1_000;
/** So many of the newest deliveries tell the pace. */
const SAMPLE = 50;
/** A pace is that of a queue: mail has waited for at least this long ... */
const BUSY_FOR_MS = 1_000;
/** ... or so much waits for another try. */
const MANY = 50;
/** A delivery at which the mail server falls silent is over after this. */
const SILENCE_MS = 15_000;
/** As long as nobody knows the pace: so many mails a second. */
const ASSUMED_PER_SECOND = SMTP_CONNECTIONS;
/** Fewer mails than this are no queue. */
const FEW = SMTP_CONNECTIONS;
/** So many networks, or domains, are not one stranger any more. */
const LANES_THAT_MATTER = 3;
const TALLY_MS = 10_000;
const RETRY_AFTER_SECONDS = { least: 10, unknown: 60, most: 600 };

type BacklogVerdict =
  { readonly type: 'in time' } | { readonly type: 'too late'; readonly retryAfterSeconds: number };

/** `behind`: mail goes out, but so slowly that forms are refused. `still`: none goes out. */
type BacklogState = 'in time' | 'behind' | 'still';

export type MailBacklog = {
  /** How far in the future a mail's turn may lie, in milliseconds. */
  readonly mostBehindMs: number;
  /** Judges a mail that is about to be queued, and counts it when it may be. */
  readonly admit: (db: Db, lane: Lane, now: number) => Promise<BacklogVerdict>;
  /** What visitors meet. */
  readonly state: (db: Db, now: number) => Promise<BacklogState>;
};

type Look = {
  /** How many mails wait, by network and recipient domain. */
  readonly waiting: Map<string, Map<string, number>>;
  /** Domains whose mail waits for somebody else's mail server, and holds up nobody else's. */
  readonly troubledDomains: ReadonlySet<string>;
  readonly standstill: Standstill | null;
  /** Mails a second while something waited that was not tried yet; null when nobody knows. */
  readonly busyPace: number | null;
  /** The same since the oldest mail of all was queued. */
  readonly longPace: number | null;
  /** What is assumed when neither is known. */
  readonly assumedPace: number;
};

const IN_TIME: BacklogVerdict = { type: 'in time' };

/** Makes the judge of one process. */
export function createMailBacklog(codeTtlSeconds: number): MailBacklog {
  const mostWaitMs = codeTtlSeconds * 1000 * BACKLOG_SHARE_OF_CODE_LIFE;
  const told = createTally();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let last: Look | undefined;

  const look = async (db: Db, now: number): Promise<Look> => {
    if (last !== undefined && Math.abs(now - lookedAt) < LOOK_EVERY_MS) return last;
    // Others go by the last look meanwhile. Nobody waits for another's: it may need the connection that they hold.
    lookedAt = now;
    last = await lookAt(db, { now, codeTtlSeconds, mostWaitMs });
    return last;
  };

  /** By how much too long a new mail would wait. */
  const excessOf = (seen: Look, lane: Lane): number => {
    const ahead = mailsAhead(seen, lane);
    return ahead <= FEW ? 0 : (ahead / paceFor(seen, ahead)) * 1000 - mostWaitMs;
  };

  return {
    mostBehindMs: mostWaitMs,

    admit: async (db, lane, now) => {
      const seen = await look(db, now);
      if (standsStillFor(seen.standstill, lane)) {
        return { type: 'too late', retryAfterSeconds: RETRY_AFTER_SECONDS.unknown };
      }
      const excessMs = excessOf(seen, lane);
      // Whoever waits behind mail that nobody takes says nothing about the page.
      if (!seen.troubledDomains.has(lane.domain)) told.note(excessMs > 0 ? 'refused' : 'taken', now);
      if (excessMs > 0) return { type: 'too late', retryAfterSeconds: retryAfter(excessMs) };
      const own = seen.waiting.get(lane.network) ?? new Map<string, number>();
      seen.waiting.set(lane.network, own.set(lane.domain, (own.get(lane.domain) ?? 0) + 1));
      return IN_TIME;
    },

    state: async (db, now) => {
      const seen = await look(db, now);
      if (seen.standstill?.forEverybody) return 'still';
      const { refused, taken } = told.lately(now);
      return refused > taken || excessOf(seen, NEWCOMER) > 0 ? 'behind' : 'in time';
    },
  };
}

/** Somebody of whom nothing waits. */
const NEWCOMER: Lane = { network: 'newcomer', domain: 'newcomer' };

const standsStillFor = (standstill: Standstill | null, { network, domain }: Lane): boolean =>
  standstill !== null &&
  (standstill.forEverybody || standstill.networks.has(network) || standstill.domains.has(domain));

/**
 * How many mails go before a new one. Turns are fair: while a network's mails have their turns, another network's have as
 * many, and no more.
 */
function mailsAhead({ waiting, troubledDomains }: Look, lane: Lane): number {
  const own = sum(waiting.get(lane.network)?.values() ?? []);
  let ahead = own;
  for (const [network, domains] of waiting) {
    if (network === lane.network) continue;
    let theirs = 0;
    for (const [domain, count] of domains) {
      if (domain === lane.domain || !troubledDomains.has(domain)) theirs += count;
    }
    ahead += Math.min(theirs, own + 1);
  }
  return ahead;
}

const sum = (numbers: Iterable<number>): number => {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
};

/** What was answered within the last ten to twenty seconds. */
function createTally() {
  const nothing = { refused: 0, taken: 0 };
  let startedAt = Number.NEGATIVE_INFINITY;
  let current = { ...nothing };
  let previous = { ...nothing };
  const turn = (now: number) => {
    if (now - startedAt < TALLY_MS) return;
    previous = now - startedAt < 2 * TALLY_MS ? current : { ...nothing };
    current = { ...nothing };
    startedAt = now;
  };
  return {
    note: (what: 'refused' | 'taken', now: number) => {
      turn(now);
      current[what] += 1;
    },
    lately: (now: number) => {
      turn(now);
      return { refused: current.refused + previous.refused, taken: current.taken + previous.taken };
    },
  };
}

const paceFor = ({ busyPace, longPace, assumedPace }: Look, ahead: number): number =>
  busyPace ?? (ahead >= MANY ? longPace : null) ?? assumedPace;

const retryAfter = (ms: number): number =>
  Math.min(Math.max(Math.ceil(ms / 1000), RETRY_AFTER_SECONDS.least), RETRY_AFTER_SECONDS.most);

async function lookAt(
  db: Db,
  { now, codeTtlSeconds, mostWaitMs }: { now: number; codeTtlSeconds: number; mostWaitMs: number },
): Promise<Look> {
  const mails = await waitingMail(db);
  const troubledDomains = findTroubledDomains(mails);
  const waiting = new Map<string, Map<string, number>>();
  let oldest = now;
  let untried = now;
  for (const mail of mails) {
    const own = waiting.get(mail.network) ?? new Map<string, number>();
    waiting.set(mail.network, own.set(mail.domain, mail.count));
    oldest = Math.min(oldest, mail.oldestCreatedAt);
    if (!troubledDomains.has(mail.domain)) untried = Math.min(untried, mail.untriedSince ?? now);
  }
  const isLong = sum(mails.map(({ count }) => count)) > FEW;
  return {
    waiting,
    troubledDomains,
    standstill: now - oldest >= mostWaitMs ? await findStandstill(db, { now, forMs: mostWaitMs }) : null,
    busyPace: isLong ? await findPace(db, untried, now) : null,
    longPace: isLong ? await findPace(db, oldest, now) : null,
    // A page that mails fifty codes a second has a mail server that can.
    assumedPace: Math.max(
      ASSUMED_PER_SECOND,
      isLong ? (await countDeliveries(db, now - codeTtlSeconds * 1000)) / codeTtlSeconds : 0,
    ),
  };
}

/**
 * Domains at which the mail server falls silent, or puts off most of what waits. Put off at several, it means us: then all
 * of that mail counts as waiting.
 */
function findTroubledDomains(mails: readonly WaitingMail[]): Set<string> {
  const byDomain = new Map<string, { count: number; putOff: number; stalled: number }>();
  const networksPutOff = new Set<string>();
  for (const { network, domain, count, putOff, stalled } of mails) {
    const so = byDomain.get(domain) ?? { count: 0, putOff: 0, stalled: 0 };
    byDomain.set(domain, {
      count: so.count + count,
      putOff: so.putOff + putOff,
      stalled: so.stalled + stalled,
    });
    if (putOff > 0) networksPutOff.add(network);
  }
  const silent = [...byDomain].filter(([, { stalled }]) => stalled > 0);
  const puttingOff = [...byDomain].filter(([, { count, putOff }]) => putOff * 2 >= count && putOff > 0);
  const meansUs = puttingOff.length >= LANES_THAT_MATTER && networksPutOff.size >= LANES_THAT_MATTER;
  return new Set([...silent, ...(meansUs ? [] : puttingOff)].map(([domain]) => domain));
}

/** Mails a second since the queue is busy, or in the last minute; null when it is not, or nothing moves. */
async function findPace(db: Db, busySince: number, now: number): Promise<number | null> {
  if (now - busySince < BUSY_FOR_MS) return null;
  const since = Math.max(busySince, now - MINUTE_MS);
  const sent = await newestDeliveries(db, { since, most: SAMPLE });
  const isTelling = sent.length > SMTP_CONNECTIONS;
  // Before silence ends in a timeout, a few deliveries beside it tell nothing about the rest.
  if (sent.length === 0 || (!isTelling && now - busySince < SILENCE_MS)) return null;
  // After an outage the first few say how fast it goes now.
  const from = isTelling ? Math.min(...sent) : since;
  return sent.length / Math.max(1, (now - from) / 1000);
}

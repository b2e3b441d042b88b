// Whether a mail that is queued now would be sent in time. A 202 promises a code; when the mail server does not keep up,
// a 503 is the honest answer, and the visitor who comes back gets a code that works.
import { countDeliveries, findStandstill, newestDeliveries, waitingMail } from '#server/db/outbox.ts';
import type { NetworkQueue, PlaceInQueue, Standstill } from '#server/db/outbox.ts';
import type { Db } from '#server/db/connect.ts';
import { SMTP_CONNECTIONS } from '#server/mail/mailer.ts';

/** How long one process trusts its last look at the database; what it queues itself meanwhile, it counts. */
const LOOK_EVERY_MS = 1_000;
/** A mail may wait for this share of a code's life. */
const SHARE_OF_LIFE = 1 / 4;
const MINUTE_MS = 60_000;
/** So many of the newest deliveries tell the pace. */
const SAMPLE = 50;
/** A pace is that of a queue: mail has waited for at least this long ... */
const BUSY_FOR_MS = 1_000;
/** ... or so much waits for another try. */
const MANY = 50;
/** As long as nobody knows the pace: so many mails a second. */
const ASSUMED_PER_SECOND = SMTP_CONNECTIONS;
/** Fewer mails than this are no queue. */
const FEW = SMTP_CONNECTIONS;
const RETRY_AFTER_SECONDS = { least: 10, unknown: 60, most: 600 };

export type BacklogVerdict =
  { readonly type: 'in time' } | { readonly type: 'too late'; readonly retryAfterSeconds: number };

/** `behind`: mail goes out, but so slowly that forms are refused. `still`: none goes out. */
export type BacklogState = 'in time' | 'behind' | 'still';

export type MailBacklog = {
  /** How far in the future a mail's turn may lie, in milliseconds. */
  readonly mostBehindMs: number;
  /** Judges a mail that is about to be queued, and counts it when it may be. */
  readonly admit: (db: Db, place: PlaceInQueue, now: number) => Promise<BacklogVerdict>;
  /** What a visitor of no particular network meets. */
  readonly state: (db: Db, now: number) => Promise<BacklogState>;
};

type Look = {
  readonly queues: Map<string, NetworkQueue>;
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
  const mostWaitMs = codeTtlSeconds * 1000 * SHARE_OF_LIFE;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let last: Look | undefined;

  const look = async (db: Db, now: number): Promise<Look> => {
    if (last !== undefined && Math.abs(now - lookedAt) < LOOK_EVERY_MS) return last;
    // Others go by the last look meanwhile. Nobody waits for another's: it may need the connection that they hold.
    lookedAt = now;
    last = await lookAt(db, { now, codeTtlSeconds, mostWaitMs });
    return last;
  };

  return {
    mostBehindMs: mostWaitMs,

    admit: async (db, { network, domain }, now) => {
      const seen = await look(db, now);
      const { standstill, queues } = seen;
      if (
        standstill !== null &&
        (standstill.forEverybody || standstill.networks.has(network) || standstill.domains.has(domain))
      ) {
        return { type: 'too late', retryAfterSeconds: RETRY_AFTER_SECONDS.unknown };
      }
      const ahead = mailsAhead(queues, network);
      if (ahead > FEW) {
        const pace = paceFor(seen, ahead);
        const excessMs = (ahead / pace) * 1000 - mostWaitMs;
        if (excessMs > 0) return { type: 'too late', retryAfterSeconds: retryAfter(excessMs) };
      }
      const own = queues.get(network);
      queues.set(network, {
        network,
        waiting: (own?.waiting ?? 0) + 1,
        oldestCreatedAt: own?.oldestCreatedAt ?? now,
        untriedSince: own?.untriedSince ?? now,
        troubled: own?.troubled ?? false,
      });
      return IN_TIME;
    },

    state: async (db, now) => {
      const seen = await look(db, now);
      if (seen.standstill?.forEverybody) return 'still';
      // One stranger's mail, which their own mail server puts off, says nothing about the page.
      const waiting = [...seen.queues.values()].reduce(
        (sum, queue) => sum + (queue.troubled ? 0 : queue.waiting),
        0,
      );
      const tooLate = waiting > FEW && (waiting / paceFor(seen, waiting)) * 1000 > mostWaitMs;
      return tooLate ? 'behind' : 'in time';
    },
  };
}

/**
 * How many mails go before a new one. Turns are fair: while a network's mails have their turns, another network's have as
 * many, and no more.
 */
function mailsAhead(queues: ReadonlyMap<string, NetworkQueue>, network: string): number {
  const own = queues.get(network)?.waiting ?? 0;
  let ahead = own;
  for (const queue of queues.values())
    if (queue.network !== network) ahead += Math.min(queue.waiting, own + 1);
  return ahead;
}

const paceFor = ({ busyPace, longPace, assumedPace }: Look, ahead: number): number =>
  busyPace ?? (ahead >= MANY ? longPace : null) ?? assumedPace;

const retryAfter = (ms: number): number =>
  Math.min(Math.max(Math.ceil(ms / 1000), RETRY_AFTER_SECONDS.least), RETRY_AFTER_SECONDS.most);

async function lookAt(
  db: Db,
  { now, codeTtlSeconds, mostWaitMs }: { now: number; codeTtlSeconds: number; mostWaitMs: number },
): Promise<Look> {
  const waiting = await waitingMail(db);
  const queues = new Map(waiting.map((queue) => [queue.network, queue]));
  const oldest = Math.min(now, ...waiting.map(({ oldestCreatedAt }) => oldestCreatedAt));
  const untried = Math.min(now, ...waiting.map(({ untriedSince }) => untriedSince ?? now));
  const count = waiting.reduce((sum, queue) => sum + queue.waiting, 0);
  const isLong = count > FEW;
  return {
    queues,
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

/** Mails a second since the queue is busy, or in the last minute; null when it is not, or nothing moves. */
async function findPace(db: Db, busySince: number, now: number): Promise<number | null> {
  if (now - busySince < BUSY_FOR_MS) return null;
  const since = Math.max(busySince, now - MINUTE_MS);
  const sent = await newestDeliveries(db, { since, most: SAMPLE });
  if (sent.length === 0) return null;
  // After an outage the first few say how fast it goes now.
  const from = sent.length > SMTP_CONNECTIONS ? Math.min(...sent) : since;
  return sent.length / Math.max(1, (now - from) / 1000);
}

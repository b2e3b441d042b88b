// Judges whether a mail that is queued now would be sent in time. A 202 promises a code; when the mail server does not keep up,
// the honest answer is 503, and the visitor who comes back later gets a code that works. Of 400 forms at once, with 5 mails a
// second and codes that live 60 s, 76 are answered 202, all of them get their codes in time, and a visitor who comes later waits
// 11 s at most (docs/reliability.md, "What happens if more codes are requested than the mail server takes?").
import type { Db } from '#server/db/engine/connect.ts';
import type { Lane } from '#server/db/tables/outbox.ts';
import type { MailLanes } from '#server/mail/outbox/connection-shares.ts';
import type { Standstill } from '#server/db/tables/outbox-waiting.ts';
import { NO_QUEUE, takeOutboxSnapshot, type OutboxSnapshot } from '#server/mail/outbox/outbox-snapshot.ts';
import { BACKLOG_SHARE_OF_CODE_LIFE } from '#server/settings/fixed-limits.ts';

/** How long a snapshot is used; mail that this process queues meanwhile is added to it, and what it sends is taken away. */
const SNAPSHOT_MS = 1_000;
const RETRY_AFTER_SECONDS = { least: 10, unknown: 60, most: 600 };
/** Answers count for one to two such spans. */
const ANSWERS_SPAN_MS = 10_000;

type BacklogVerdict =
  { readonly type: 'in time' } | { readonly type: 'too late'; readonly retryAfterSeconds: number };

/** `behind`: mail is sent, but so slowly that forms are refused. `still`: no mail is sent. */
type BacklogState = 'in time' | 'behind' | 'still';

export type MailBacklog = {
  /** How far in the future a mail's turn may lie, in milliseconds. */
  readonly mostBehindMs: number;
  /** Judges a mail that is about to be queued, and counts it if it may be. */
  readonly admit: (db: Db, lane: Lane, now: number) => Promise<BacklogVerdict>;
  /** Notes that a mail no longer waits: it was sent, or never will be. */
  readonly left: (lanes: MailLanes) => void;
  /** The state that most visitors meet, for health checks. */
  readonly state: (db: Db, now: number) => Promise<BacklogState>;
};

/** Makes the judge of one process. */
export function createMailBacklog(codeTtlSeconds: number): MailBacklog {
  const mostWaitMs = codeTtlSeconds * 1000 * BACKLOG_SHARE_OF_CODE_LIFE;
  const answers = createRecentAnswers();
  let takenAt = Number.NEGATIVE_INFINITY;
  let last: OutboxSnapshot | undefined;

  const snapshot = async (db: Db, now: number): Promise<OutboxSnapshot> => {
    if (last !== undefined && Math.abs(now - takenAt) < SNAPSHOT_MS) return last;
    // Other calls use the last snapshot meanwhile. They must not wait for this one, which may need the connection they hold.
    takenAt = now;
    last = await takeOutboxSnapshot(db, { now, codeTtlSeconds, mostWaitMs });
    return last;
  };

  /** By how much too long a new mail would wait, in milliseconds. */
  const excessOf = (outbox: OutboxSnapshot, lane: Lane): number => {
    const ahead = mailsAhead(outbox, lane);
    return ahead <= NO_QUEUE ? 0 : (ahead / outbox.pacePerSecond(ahead)) * 1000 - mostWaitMs;
  };

  return {
    mostBehindMs: mostWaitMs,

    admit: async (db, lane, now) => {
      const outbox = await snapshot(db, now);
      if (standsStillFor(outbox.standstill, lane))
        return { type: 'too late', retryAfterSeconds: RETRY_AFTER_SECONDS.unknown };
      const excessMs = excessOf(outbox, lane);
      // Mail that waits for a domain in trouble says nothing about the page.
      if (!outbox.troubledDomains.has(lane.domain)) answers.note(excessMs > 0 ? 'refused' : 'taken', now);
      if (excessMs > 0) return { type: 'too late', retryAfterSeconds: retryAfter(excessMs) };
      const own = outbox.waiting.get(lane.network) ?? new Map<string, number>();
      outbox.waiting.set(lane.network, own.set(lane.domain, (own.get(lane.domain) ?? 0) + 1));
      return { type: 'in time' };
    },

    left: ({ network, recipient_domain: domain }) => {
      const own = last?.waiting.get(network ?? '');
      const count = own?.get(domain ?? '');
      // Mail that was queued while the snapshot was taken may not be in it.
      if (own === undefined || count === undefined) return;
      if (count > 1) own.set(domain ?? '', count - 1);
      else own.delete(domain ?? '');
      // Each form looks at every network of which mail waits: those that had some a moment ago must not be among them.
      if (own.size === 0) last?.waiting.delete(network ?? '');
    },

    state: async (db, now) => {
      const outbox = await snapshot(db, now);
      if (outbox.standstill?.forEverybody) return 'still';
      const { refused, taken } = answers.lately(now);
      return refused > taken || excessOf(outbox, NEWCOMER) > 0 ? 'behind' : 'in time';
    },
  };
}

/** A lane in which no mail waits. */
const NEWCOMER: Lane = { network: 'newcomer', domain: 'newcomer' };

const standsStillFor = (standstill: Standstill | null, { network, domain }: Lane): boolean =>
  standstill !== null &&
  (standstill.forEverybody || standstill.networks.has(network) || standstill.domains.has(domain));

/**
 * How many mails are sent before a new one. Turns are fair: while the mails of one network have their turns, another network
 * has as many, and no more.
 */
function mailsAhead({ waiting, troubledDomains }: OutboxSnapshot, lane: Lane): number {
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

/** Counts answers of the last ten to twenty seconds. */
function createRecentAnswers() {
  const none = { refused: 0, taken: 0 };
  let startedAt = Number.NEGATIVE_INFINITY;
  let current = { ...none };
  let previous = { ...none };
  const moveTo = (now: number) => {
    if (now - startedAt < ANSWERS_SPAN_MS) return;
    previous = now - startedAt < 2 * ANSWERS_SPAN_MS ? current : { ...none };
    current = { ...none };
    startedAt = now;
  };
  return {
    note: (answer: 'refused' | 'taken', now: number) => {
      moveTo(now);
      current[answer] += 1;
    },
    lately: (now: number) => {
      moveTo(now);
      return { refused: current.refused + previous.refused, taken: current.taken + previous.taken };
    },
  };
}

const retryAfter = (ms: number): number =>
  Math.min(Math.max(Math.ceil(ms / 1000), RETRY_AFTER_SECONDS.least), RETRY_AFTER_SECONDS.most);

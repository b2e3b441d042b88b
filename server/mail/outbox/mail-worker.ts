// Takes mail out of the outbox and sends it. The request path wakes it and never waits for SMTP.
import { randomUUIDv7 } from 'node:crypto';

import { pseudonymsOf } from '#server/secrets/pseudonyms.ts';
import { lockAddress } from '#server/db/tables/challenges.ts';
import { CLOCKS_DIFFER_MS } from '#server/db/engine/clocks.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import {
  dropFutureTimes,
  finishMail,
  giveMailBack,
  keptReply,
  leaseDueMail,
  releaseMail,
  type FirstLease,
  type Lane,
  type OutboxRow,
} from '#server/db/tables/outbox.ts';
import { suppress, suppressionsOf } from '#server/db/tables/suppressions.ts';
import { SMTP_CONNECTIONS, type Mailer, type SendOutcome } from '#server/mail/mailer.ts';
import type { KindParts, Message } from '#server/mail/letters/letter-kind.ts';
import { findKind } from '#server/mail/outbox/letter-kinds.ts';
import { createLaneBook } from '#server/mail/outbox/connection-shares.ts';
import { startWakeLoop } from '#server/platform/wake-loop.ts';
import { normaliseEmail } from '#shared/lead.ts';

/** The lease outlives the longest delivery, so nobody takes up a mail that is still being sent. */
const DELIVERY_TIMEOUT_MS = 25_000;
const LEASE_MS = 30_000;
/** Finds mail that another process queued, whose lease ran out, or whose time to be tried again has come. */
const POLL_MS = 1_000;
/** How long a stop waits for deliveries in hand before it gives them back. */
const STOP_PATIENCE_MS = 5_000;
/** Seconds until the next try, by tries made. A code lives for minutes, so waits stay short. */
const BACKOFF_SECONDS = [1, 2, 5, 10, 20, 30];

/**
 * While deliveries are quick, so many mails are taken up beyond those that have a connection: one look into the outbox, or
 * none, serves them all. While they are not, each mail that is taken up early would only be out of its turn.
 */
const MOST_AHEAD = 32;
/** Quick: what is taken up last begins within this time. */
const QUICK_MS = 1_000;
/** What was taken up and did not begin by then is given back: those before it are slow, and its turn may be another's. */
const GIVE_BACK_AFTER_MS = 3_000;
/** Of how long deliveries take lately, the newest one makes up so much. */
const SHARE_OF_NEWEST = 0.2;

/** What a newer release queued waits for a process of it; this one looks again now and then. */
const UNKNOWN_KIND_MS = 30_000;

export type MailEvent =
  | { readonly type: 'sent'; readonly queuedForMs: number }
  | { readonly type: 'dropped' }
  | {
      readonly type: 'failed for now';
      readonly reason: string;
      readonly errorClass: string;
      readonly attempts: number;
    }
  | { readonly type: 'refused'; readonly reason: string; readonly errorClass: string };

export type MailWorkerParts = Omit<KindParts, 'db'> & {
  readonly database: OpenDatabase;
  readonly mailer: Mailer;
  readonly clock: () => number;
  /** From 0 up to 1, for jitter. */
  readonly random: () => number;
  /** Told what became of each mail; never told whom it was for. */
  readonly onEvent: (event: MailEvent) => void;
  readonly onError: (error: unknown) => void;
};

/** The promise to send a mail that is about to be queued, as soon as it is committed. */
type Reservation = Disposable & {
  /** What its row is to say, from the beginning. If this process dies, another one takes it up when the lease has run out. */
  readonly lease: FirstLease;
  /** To be called once, after the commit. */
  readonly deliver: (mail: OutboxRow) => void;
};

export type MailWorker = {
  /**
   * Asks for a mail to be sent without its being looked for in the outbox.
   * @returns null when nobody is free to, or others wait for their turn. Disposing of it without a delivery gives it up
   */
  readonly reserve: (lane: Lane) => Reservation | null;
  /** Something was queued: look now. */
  readonly wake: () => void;
  /** Stops taking mail, finishes what is in hand or gives it back, and resolves. */
  readonly stop: () => Promise<void>;
};

/** A mail that is leased and waits for a connection. */
type Ready = { readonly mail: OutboxRow; readonly since: number };

const byTurn = ({ mail: a }: Ready, { mail: b }: Ready): number =>
  a.turn_at - b.turn_at || (a.id < b.id ? -1 : 1);

/** Starts sending. */
export function startMailWorker(parts: MailWorkerParts): MailWorker {
  const { database, mailer, clock, onError } = parts;
  const kindParts: KindParts = { ...parts, db: database.db };
  const leaseId = randomUUIDv7();
  /** Deliveries under way, and when each began. */
  const inHand = new Map<Promise<void>, number>();
  let ready: Ready[] = [];
  let reserved = 0;
  /** How long deliveries take lately; slow, as long as nobody knows. */
  let deliveryMs = QUICK_MS;
  /** Whether there may be mail in the outbox that nobody has taken up. */
  let othersWait = true;
  /** How often something was queued: a look that began before does not see it. */
  let timesQueued = 0;
  const lanes = createLaneBook(SMTP_CONNECTIONS, clock);
  const aborted = new AbortController();
  let stopping = false;
  // At the start, too: the clock may have been set back while no process ran.
  let lastLookAt = Number.POSITIVE_INFINITY;

  const wake = () => {
    othersWait = true;
    timesQueued += 1;
    loop.wake();
  };

  /** How many mails may be taken up beyond those that have a connection. */
  const ahead = (): number => {
    const now = performance.now();
    const isHeldUp = lanes.anySlow() || [...inHand.values()].some((begunAt) => now - begunAt > QUICK_MS);
    const begunInTime = Math.floor((SMTP_CONNECTIONS * QUICK_MS) / deliveryMs);
    return isHeldUp ? 0 : Math.min(MOST_AHEAD, Math.max(0, begunInTime - SMTP_CONNECTIONS));
  };

  /** How many more may be taken up now. */
  const room = (mostAhead: number): number =>
    SMTP_CONNECTIONS + mostAhead - inHand.size - ready.length - reserved;

  const isFull = (mail: Pick<OutboxRow, 'network' | 'recipient_domain'>): boolean => {
    const { networks, domains } = lanes.full();
    return networks.includes(mail.network ?? '') || domains.includes(mail.recipient_domain ?? '');
  };

  const begin = (mail: OutboxRow): void => {
    const end = lanes.begin(mail);
    const begunAt = performance.now();
    const delivery = deliver(mail).catch(onError);
    inHand.set(delivery, begunAt);
    void delivery.finally(() => {
      end();
      inHand.delete(delivery);
      deliveryMs += (performance.now() - begunAt - deliveryMs) * SHARE_OF_NEWEST;
      beginReady();
      if (othersWait) wake();
    });
  };

  /** Begins what is ready, as far as there are connections for it. */
  const beginReady = (): void => {
    while (inHand.size < SMTP_CONNECTIONS && !stopping) {
      const next = ready.findIndex(({ mail }) => !isFull(mail));
      const [taken] = next < 0 ? [] : ready.splice(next, 1);
      if (taken === undefined) return;
      begin(taken.mail);
    }
  };

  const makeReady = (mails: readonly OutboxRow[]): void => {
    const since = performance.now();
    ready = [...ready, ...mails.map((mail) => ({ mail, since }))].toSorted(byTurn);
    beginReady();
  };

  /** Gives back what is ready and waits for too long, so that others can take it up. */
  const giveBack = async (isTooLong: (one: Ready) => boolean): Promise<void> => {
    const leaving = ready.filter(isTooLong);
    ready = ready.filter((one) => !leaving.includes(one));
    for (const { mail } of leaving) await giveMailBack(database.db, { id: mail.id, leaseId });
  };

  const takeUp = async (): Promise<void> => {
    const now = clock();
    if (now < lastLookAt - CLOCKS_DIFFER_MS) await dropFutureTimes(database.db, { leaseId, now });
    lastLookAt = now;
    await giveBack(({ since }) => performance.now() - since > GIVE_BACK_AFTER_MS);
    while (!stopping) {
      const mostAhead = ahead();
      const most = room(mostAhead);
      if (most < 1) return;
      const full = lanes.full();
      const look = timesQueued;
      const taken = await leaseDueMail(database, {
        leaseId,
        // One at a time unless it goes quickly: each changes whose turn the next may be.
        most: mostAhead > 0 ? most : 1,
        leaseMs: LEASE_MS,
        now: clock(),
        full,
      });
      const isAllTaken = taken.length === 0 && full.networks.length === 0 && full.domains.length === 0;
      othersWait = !isAllTaken || timesQueued > look;
      if (taken.length === 0) return;
      makeReady(taken);
    }
  };

  const reserve = ({ network, domain }: Lane): Reservation | null => {
    const mostAhead = ahead();
    if (stopping || othersWait || room(mostAhead) < 1) return null;
    if (mostAhead === 0 && isFull({ network, recipient_domain: domain })) return null;
    reserved += 1;
    let isOver = false;
    const end = () => {
      if (!isOver) reserved -= 1;
      isOver = true;
    };
    return {
      lease: { leaseId, leasedUntil: clock() + LEASE_MS },
      deliver: (mail) => {
        end();
        makeReady([mail]);
      },
      [Symbol.dispose]: end,
    };
  };

  const handOver = async (message: Message, kind: string, signal: AbortSignal): Promise<SendOutcome> => {
    // A kind that goes another way has its case here.
    switch (message.way) {
      case 'mail':
        return mailer.send({ ...message.mail, kind }, signal);
    }
  };

  /** Ends it when it takes too long, or the worker stops. Not AbortSignal.timeout: each would be held for all of its time. */
  const withinTime = async <Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
    const ending = new AbortController();
    const end = () => ending.abort();
    const timer = setTimeout(end, DELIVERY_TIMEOUT_MS);
    aborted.signal.addEventListener('abort', end);
    if (aborted.signal.aborted) end();
    try {
      return await work(ending.signal);
    } finally {
      clearTimeout(timer);
      aborted.signal.removeEventListener('abort', end);
    }
  };

  const isSuppressed = async (recipient: string): Promise<boolean> => {
    const address = { keys: pseudonymsOf(parts.secrets, recipient), email: normaliseEmail(recipient) };
    const reasons = await suppressionsOf(database.db, address);
    return reasons.length > 0;
  };

  /** Ends a mail whose address does not exist. Others keep away from it; a code that somebody asks for is still tried. */
  const finishDead = async (recipient: string, failed: Parameters<typeof finishMail>[1]): Promise<void> => {
    const { db, engine } = database;
    const email = normaliseEmail(recipient);
    await db.transaction().execute(async (tx) => {
      // Its erasure may be under way, and must not be followed by a new row with the address.
      await lockAddress(tx, engine, email);
      if (!(await finishMail(tx, failed))) return;
      const keys = pseudonymsOf(parts.secrets, email);
      const note = keptReply(failed.reply);
      await suppress(tx, { keys, reason: 'bounced', email, note, now: failed.now });
    });
  };

  const deliver = async (mail: OutboxRow): Promise<void> => {
    const kind = findKind(mail.kind);
    if (kind === undefined) {
      await releaseMail(database.db, {
        id: mail.id,
        turn_at: mail.turn_at,
        leaseId,
        dueAt: clock() + UNKNOWN_KIND_MS,
        reply: `no process that looked knows the kind "${mail.kind}"`,
        errorClass: 'unknown kind',
      });
      return;
    }
    const madeAt = clock();
    const isWorthIt = madeAt - mail.created_at < kind.mayWaitMs(kindParts);
    const isWanted = isWorthIt && !(kind.respectsSuppression && (await isSuppressed(mail.recipient)));
    const message = isWanted ? await kind.compose(kindParts, mail, madeAt) : null;
    if (message === null) {
      await finishMail(database.db, {
        id: mail.id,
        leaseId,
        state: 'dropped',
        // Why it was put off until then is worth more to whoever asks what became of it.
        reply: mail.reply ?? 'no longer valid',
        now: clock(),
      });
      parts.onEvent({ type: 'dropped' });
      return;
    }
    const outcome = await withinTime((signal) => handOver(message, mail.kind, signal));
    const now = clock();
    switch (outcome.type) {
      case 'sent':
        await finishMail(database.db, { id: mail.id, leaseId, state: 'sent', reply: outcome.reply, now });
        parts.onEvent({ type: 'sent', queuedForMs: now - mail.created_at });
        return;
      case 'refused': {
        const failed = { id: mail.id, leaseId, state: 'failed', reply: outcome.reason, now } as const;
        if (outcome.meaning === 'no such address') await finishDead(mail.recipient, failed);
        else await finishMail(database.db, failed);
        parts.onEvent(outcome);
        return;
      }
      case 'failed for now': {
        const dueAt = aborted.signal.aborted ? now : now + backoffMs(mail.attempts, parts.random);
        await releaseMail(database.db, {
          id: mail.id,
          turn_at: mail.turn_at,
          leaseId,
          dueAt,
          reply: outcome.reason,
          errorClass: outcome.errorClass,
        });
        parts.onEvent({ ...outcome, attempts: mail.attempts });
      }
    }
  };

  const loop = startWakeLoop({ pollMs: POLL_MS, work: takeUp, onError });
  return {
    wake,
    reserve,
    stop: async () => {
      stopping = true;
      const patience = setTimeout(() => aborted.abort(), STOP_PATIENCE_MS);
      await loop.stop();
      await giveBack(() => true).catch(onError);
      await Promise.all(inHand.keys());
      clearTimeout(patience);
    },
  };
}

function backoffMs(attempts: number, random: () => number): number {
  const seconds = BACKOFF_SECONDS[Math.min(attempts, BACKOFF_SECONDS.length) - 1] ?? 1;
  // Plus or minus 30 %, so that a server that comes back is not met by everybody at once.
  return Math.round(seconds * 1000 * (0.7 + 0.6 * random()));
}

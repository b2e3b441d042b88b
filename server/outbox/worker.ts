// Takes mail out of the outbox and sends it. The request path wakes it and never waits for SMTP.
import { v7 as uuid } from 'uuid';

import { CLOCKS_DIFFER_MS } from '#server/db/clocks.ts';
import type { OpenDatabase } from '#server/db/connect.ts';
import { dropFutureTimes, finishMail, leaseDueMail, releaseMail, type OutboxRow } from '#server/db/outbox.ts';
import { SMTP_CONNECTIONS, type Mailer, type SendOutcome } from '#server/mail/mailer.ts';
import { findKind, type KindParts, type Message } from '#server/outbox/kinds.ts';
import { createLaneBook } from '#server/outbox/lanes.ts';

/** The lease outlives the longest delivery, so nobody takes up a mail that is still being sent. */
const DELIVERY_TIMEOUT_MS = 25_000;
const LEASE_MS = 30_000;
/** Finds mail that another process queued, whose lease ran out, or whose time to be tried again has come. */
const POLL_MS = 1_000;
/** How long a stop waits for deliveries in hand before it gives them back. */
const STOP_PATIENCE_MS = 5_000;
/** Seconds until the next try, by tries made. A code lives for minutes, so waits stay short. */
const BACKOFF_SECONDS = [1, 2, 5, 10, 20, 30];

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

export type MailWorker = {
  /** Something was queued: look now. */
  readonly wake: () => void;
  /** Stops taking mail, finishes what is in hand or gives it back, and resolves. */
  readonly stop: () => Promise<void>;
};

/** Starts sending. */
export function startMailWorker(parts: MailWorkerParts): MailWorker {
  const { database, mailer, clock, onError } = parts;
  const kindParts: KindParts = { ...parts, db: database.db };
  const leaseId = uuid();
  const inHand = new Set<Promise<void>>();
  const lanes = createLaneBook(SMTP_CONNECTIONS, clock);
  const aborted = new AbortController();
  let stopping = false;
  let wakeUp: () => void = () => {};
  let awake = false;
  // At the start, too: the clock may have been set back while no process ran.
  let lastLookAt = Number.POSITIVE_INFINITY;

  const wake = () => {
    awake = true;
    wakeUp();
  };

  const sleep = () =>
    new Promise<void>((resolve) => {
      if (awake) return resolve();
      const timer = setTimeout(resolve, POLL_MS);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const takeUp = async (): Promise<void> => {
    const now = clock();
    if (now < lastLookAt - CLOCKS_DIFFER_MS) await dropFutureTimes(database.db, { leaseId, now });
    lastLookAt = now;
    // One at a time: each changes whose turn the next may be.
    while (inHand.size < SMTP_CONNECTIONS && !stopping) {
      const [mail] = await leaseDueMail(database, {
        leaseId,
        most: 1,
        leaseMs: LEASE_MS,
        now: clock(),
        full: lanes.full(),
      });
      if (mail === undefined) return;
      const end = lanes.begin(mail);
      const delivery = deliver(mail).catch(onError);
      inHand.add(delivery);
      void delivery.finally(() => {
        end();
        inHand.delete(delivery);
        // There may be more waiting than there were free connections.
        wake();
      });
    }
  };

  const handOver = async (message: Message, signal: AbortSignal): Promise<SendOutcome> => {
    // A kind that goes another way has its case here.
    switch (message.way) {
      case 'mail':
        return mailer.send(message.mail, signal);
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
    const message = isWorthIt ? await kind.compose(kindParts, mail, madeAt) : null;
    if (message === null) {
      await finishMail(database.db, {
        id: mail.id,
        leaseId,
        state: 'dropped',
        reply: 'no longer valid',
        now: clock(),
      });
      parts.onEvent({ type: 'dropped' });
      return;
    }
    const outcome = await withinTime((signal) => handOver(message, signal));
    const now = clock();
    switch (outcome.type) {
      case 'sent':
        await finishMail(database.db, { id: mail.id, leaseId, state: 'sent', reply: outcome.reply, now });
        parts.onEvent({ type: 'sent', queuedForMs: now - mail.created_at });
        return;
      case 'refused':
        await finishMail(database.db, { id: mail.id, leaseId, state: 'failed', reply: outcome.reason, now });
        parts.onEvent(outcome);
        return;
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

  const run = async (): Promise<void> => {
    while (!stopping) {
      awake = false;
      try {
        await takeUp();
      } catch (error) {
        // The database is away. The poll is the next try.
        onError(error);
      }
      await sleep();
    }
  };

  const running = run();
  return {
    wake,
    stop: async () => {
      stopping = true;
      wake();
      const patience = setTimeout(() => aborted.abort(), STOP_PATIENCE_MS);
      await running;
      await Promise.all(inHand);
      clearTimeout(patience);
    },
  };
}

function backoffMs(attempts: number, random: () => number): number {
  const seconds = BACKOFF_SECONDS[Math.min(attempts, BACKOFF_SECONDS.length) - 1] ?? 1;
  // Plus or minus 30 %, so that a server that comes back is not met by everybody at once.
  return Math.round(seconds * 1000 * (0.7 + 0.6 * random()));
}

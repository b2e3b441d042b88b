// Decides which mail of the outbox this process sends next, and when. The request path wakes it and never waits for SMTP.
// deliver-mail.ts sends one mail and says when it is tried again, connection-shares.ts keeps connections for others.
import { CLOCKS_DIFFER_MS } from '#server/db/engine/clocks.ts';
import type { FirstLease, Lane } from '#server/db/tables/outbox.ts';
import {
  dropFutureTimes,
  giveMailBack,
  leaseDueMail,
  type FullLanes,
} from '#server/db/tables/outbox-leases.ts';
import type { MailInHand } from '#server/mail/letters/letter-kind.ts';
import { SMTP_CONNECTIONS } from '#server/mail/mailer.ts';
import { createConnectionShares } from '#server/mail/outbox/connection-shares.ts';
import { createDelivery, type DeliveryParts } from '#server/mail/outbox/deliver-mail.ts';
import { createLookAhead } from '#server/mail/outbox/lease-ahead.ts';
import { createQueueWorker } from '#server/platform/queue-worker.ts';

/** Outlives the longest delivery. */
const LEASE_MS = 30_000;
const STOP_PATIENCE_MS = 5_000;
/** A leased mail that has not begun by then is given back: the mails before it are slow, and another process may be free. */
const GIVE_BACK_AFTER_MS = 3_000;
const NO_LANES: FullLanes = { networks: [], domains: [] };

export type MailWorkerParts = DeliveryParts & {
  /** Reports what failed unexpectedly. */
  readonly onError: (error: unknown) => void;
};

/** The promise to send a mail that is about to be queued, as soon as it is committed. Disposing of it gives the promise up. */
type Reservation = Disposable & {
  /** The lease with which the row is inserted. If this process dies, another one takes the mail up when it has run out. */
  readonly lease: FirstLease;
  /** Sends the mail. Call it once, after the commit. */
  readonly deliver: (mail: MailInHand) => void;
};

export type MailWorker = {
  /**
   * Reserves the delivery of a mail, which then needs no look into the outbox.
   * @returns null when no connection is free, or other mail waits for its turn
   */
  readonly reserve: (lane: Lane) => Reservation | null;
  /** A mail was queued: look now. */
  readonly wake: () => void;
  /** Stops taking mail, finishes or gives back what it has leased, and resolves. */
  readonly stop: () => Promise<void>;
};

/** Starts sending. */
export function startMailWorker(parts: MailWorkerParts): MailWorker {
  const { database, clock, onError } = parts;
  const worker = createQueueWorker({
    clock,
    clockToleranceMs: CLOCKS_DIFFER_MS,
    stopPatienceMs: STOP_PATIENCE_MS,
    onError,
  });
  const { leaseId } = worker;
  const deliver = createDelivery(parts, worker);
  const shares = createConnectionShares(SMTP_CONNECTIONS, clock);
  const lookAhead = createLookAhead(SMTP_CONNECTIONS);
  const ready = createReadyMail();
  /** Deliveries under way. */
  let sending = 0;
  let reserved = 0;
  /** Whether the outbox may hold mail that no process has leased. */
  let othersWait = true;
  /** Counts wakes: a look that began before one does not see the mail that caused it. */
  let wakes = 0;

  const wake = () => {
    othersWait = true;
    wakes += 1;
    worker.wake();
  };

  const aheadLimit = (): number => (shares.anySlow() ? 0 : lookAhead.limit());

  /** How many more mails may be leased now. */
  const room = (ahead: number): number => SMTP_CONNECTIONS + ahead - sending - ready.size() - reserved;

  const begin = (mail: MailInHand): void => {
    const ends = [shares.begin(mail), lookAhead.begin()];
    sending += 1;
    worker.track(deliver(mail), () => {
      for (const end of ends) end();
      sending -= 1;
      beginReady();
      if (othersWait) wake();
    });
  };

  /** Begins leased mail while there are connections for it. */
  const beginReady = (): void => {
    while (sending < SMTP_CONNECTIONS && !worker.isStopping()) {
      const mail = ready.takeFirst((one) => !shares.isFull(one));
      if (mail === undefined) return;
      // After this process was suspended, another one may have it.
      if (mail.leased_until === null || mail.leased_until > clock()) begin(mail);
      else othersWait = true;
    }
  };

  const makeReady = (mails: readonly MailInHand[]): void => {
    ready.add(mails);
    beginReady();
  };

  const giveBack = async (mails: readonly MailInHand[]): Promise<void> => {
    for (const { id } of mails) await giveMailBack(database.db, { id, leaseId });
  };

  const takeUp = async (): Promise<void> => {
    await giveBack(ready.takeWaitingFor(GIVE_BACK_AFTER_MS));
    while (!worker.isStopping()) {
      const ahead = aheadLimit();
      const free = room(ahead);
      if (free < 1) return;
      // While deliveries are quick, mail of a lane that is full waits here for its turn: it would have the outbox looked into
      // after every delivery.
      const full = ahead > 0 ? NO_LANES : shares.full();
      const wakesBefore = wakes;
      const taken = await leaseDueMail(database, {
        leaseId,
        // While deliveries are slow, each mail taken changes whose turn is next.
        most: ahead > 0 ? free : 1,
        leaseMs: LEASE_MS,
        now: clock(),
        full,
      });
      const isEmpty = taken.length === 0 && full.networks.length === 0 && full.domains.length === 0;
      othersWait = !isEmpty || wakes > wakesBefore;
      if (taken.length === 0) return;
      makeReady(taken);
    }
  };

  const reserve = ({ network, domain }: Lane): Reservation | null => {
    const ahead = aheadLimit();
    if (worker.isStopping() || othersWait || room(ahead) < 1) return null;
    if (ahead === 0 && shares.isFull({ network, recipient_domain: domain })) return null;
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

  worker.start({ dropFutureTimes: (now) => dropFutureTimes(database.db, { leaseId, now }), takeUp });
  return { wake, reserve, stop: () => worker.stop(() => giveBack(ready.takeWaitingFor(0))) };
}

/** Mail that is leased and waits for a connection, in the order of turns. */
function createReadyMail() {
  let waiting: { readonly mail: MailInHand; readonly since: number }[] = [];
  return {
    size: (): number => waiting.length,
    add: (mails: readonly MailInHand[]): void => {
      const since = performance.now();
      waiting = [...waiting, ...mails.map((mail) => ({ mail, since }))].toSorted(
        ({ mail: a }, { mail: b }) => a.turn_at - b.turn_at || (a.id < b.id ? -1 : 1),
      );
    },
    /** Takes the first mail that may begin. */
    takeFirst: (mayBegin: (mail: MailInHand) => boolean): MailInHand | undefined => {
      const index = waiting.findIndex(({ mail }) => mayBegin(mail));
      return index < 0 ? undefined : waiting.splice(index, 1)[0]?.mail;
    },
    /** Takes all mail that has waited for so long. @param ms 0: all mail */
    takeWaitingFor: (ms: number): MailInHand[] => {
      const latest = performance.now() - ms;
      const leaving = waiting.filter(({ since }) => since <= latest);
      waiting = waiting.filter(({ since }) => since > latest);
      return leaving.map(({ mail }) => mail);
    },
  };
}

// Takes events out of the database and sends them: to each endpoint on its own, so that one which hangs keeps nobody else
// waiting; of each lead one at a time, in order. Delivery is at least once.
import { randomUUIDv7 } from 'node:crypto';

import { CLOCKS_DIFFER_MS } from '#server/db/engine/clocks.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import {
  dropFutureEventTimes,
  finishEvent,
  leaseDueEvents,
  releaseEvent,
  type TakenEvent,
} from '#server/db/tables/webhook-events.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#server/platform/time.ts';
import { startWakeLoop } from '#server/platform/wake-loop.ts';
import type { Endpoint } from '#server/webhooks/webhook-endpoints.ts';
import type { SendOutcome, WebhookSender } from '#server/webhooks/webhook-sender.ts';

/** Events under way to one endpoint. */
export const HANDS = 4;
/** Outlives the longest delivery: twice the sender's time, and some. */
const LEASE_MS = 30_000;
/** Finds what another process queued, whose lease ran out, or whose time to be tried again has come. */
const POLL_MS = 1_000;
/** A stop waits no longer for deliveries in hand: the next start tries them again. */
const STOP_PATIENCE_MS = 1_000;
const SECOND_MS = 1_000;
/** Until the next try, by tries made; the last one again and again. */
const BACKOFF_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
] as const;
/** After that an event is dead; its last try is at that moment. */
const GIVE_UP_AFTER_MS = DAY_MS;
/** A receiver may ask for more time than we would leave it, but not for ever. */
const MOST_RETRY_AFTER_MS = 4 * HOUR_MS;
/** Longer than the worker ever waits before it tries again, and than a lease lasts. */
const FARTHEST_DUE_MS = 6 * HOUR_MS;

/** What became of a try. `host` is that of the endpoint: nothing of its path, which may be secret. */
export type WebhookOutcome = {
  readonly type: 'sent' | 'failed for now' | 'dead';
  readonly event: TakenEvent['type'];
  readonly host: string;
  readonly answer: string;
};

export type WebhookWorkerParts = {
  readonly database: OpenDatabase;
  readonly endpoints: readonly Endpoint[];
  /** Called when there is something to send for the first time. */
  readonly openSender: () => Promise<WebhookSender>;
  readonly clock: () => number;
  /** From 0 up to 1, for jitter. */
  readonly random: () => number;
  readonly onOutcome: (outcome: WebhookOutcome) => void;
  readonly onError: (error: unknown) => void;
};

export type WebhookWorker = {
  /** Something was queued: look now. */
  readonly wake: () => void;
  /** Stops taking events, finishes what is in hand or gives it back, and closes the sender. */
  readonly stop: () => Promise<void>;
};

/** Starts sending. */
export function startWebhookWorker(parts: WebhookWorkerParts): WebhookWorker {
  const { database, endpoints, openSender, clock, random, onOutcome, onError } = parts;
  const leaseId = randomUUIDv7();
  const lanes = endpoints.map((endpoint) => ({ endpoint, inHand: new Set<Promise<void>>() }));
  const aborted = new AbortController();
  let sender: Promise<WebhookSender> | undefined;
  let stopping = false;
  // At the start, too: the clock may have been set back while no process ran.
  let lastLookAt = Number.POSITIVE_INFINITY;

  const takeUp = async (): Promise<void> => {
    const now = clock();
    if (now < lastLookAt - CLOCKS_DIFFER_MS)
      await dropFutureEventTimes(database.db, { leaseId, now, farthest: now + FARTHEST_DUE_MS });
    lastLookAt = now;
    for (const { endpoint, inHand } of lanes) {
      const most = HANDS - inHand.size;
      if (stopping || most < 1) continue;
      const taken = await leaseDueEvents(database, {
        endpoint: endpoint.id,
        leaseId,
        leasedUntil: clock() + LEASE_MS,
        now: clock(),
        most,
      });
      for (const event of taken) begin(endpoint, inHand, event);
    }
  };

  const begin = (endpoint: Endpoint, inHand: Set<Promise<void>>, event: TakenEvent): void => {
    const delivery = deliver(endpoint, event).catch(onError);
    inHand.add(delivery);
    void delivery.finally(() => {
      inHand.delete(delivery);
      loop.wake();
    });
  };

  const deliver = async (endpoint: Endpoint, event: TakenEvent): Promise<void> => {
    const delivery = { id: event.id, body: event.payload, now: clock() };
    sender ??= openSender();
    const outcome = await (await sender).send(endpoint, delivery, aborted.signal);
    const now = clock();
    const { answer } = outcome;
    // One that a stop cut off says nothing about the receiver.
    const isCutOff = aborted.signal.aborted && outcome.type === 'failed for now';
    const state = isCutOff ? null : endOf(outcome, event, now);
    if (state === null) {
      const dueAt = isCutOff ? now : nextTryAt(outcome, event, { now, random });
      await releaseEvent(database.db, { event, leaseId, dueAt, answer });
    } else await finishEvent(database.db, { event, leaseId, state, answer, now });
    onOutcome({ type: state ?? 'failed for now', event: event.type, host: endpoint.host, answer });
  };

  const loop = startWakeLoop({ pollMs: POLL_MS, work: takeUp, onError });
  return {
    wake: loop.wake,
    stop: async () => {
      stopping = true;
      const patience = setTimeout(() => aborted.abort(), STOP_PATIENCE_MS);
      await loop.stop();
      await Promise.all(lanes.flatMap(({ inHand }) => [...inHand]));
      clearTimeout(patience);
      (await sender)?.close();
    },
  };
}

/** The state in which a try leaves an event for good; null when it is to be tried again. */
function endOf({ type }: SendOutcome, { queued_at: since }: TakenEvent, now: number): 'sent' | 'dead' | null {
  if (type === 'sent') return 'sent';
  return type === 'gone' || now >= since + GIVE_UP_AFTER_MS ? 'dead' : null;
}

function nextTryAt(
  outcome: SendOutcome,
  { attempts, queued_at: since }: TakenEvent,
  { now, random }: { now: number; random: () => number },
): number {
  const backoff = BACKOFF_MS[Math.min(attempts, BACKOFF_MS.length) - 1] ?? BACKOFF_MS[0];
  const asked = outcome.type === 'failed for now' ? (outcome.retryAfterMs ?? 0) : 0;
  // Plus or minus 30 %, so that a receiver that comes back is not met by everybody at once.
  const wait = Math.round(backoff * (0.7 + 0.6 * random()));
  return Math.min(now + Math.max(wait, Math.min(asked, MOST_RETRY_AFTER_MS)), since + GIVE_UP_AFTER_MS);
}

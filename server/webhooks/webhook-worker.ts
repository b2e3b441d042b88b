// Takes events out of the database and sends them. Each endpoint is served separately, so one that hangs does not delay the others;
// the events of a lead go one at a time, in order. Delivery is at least once.
import { CLOCKS_DIFFER_MS } from '#server/db/engine/clocks.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import {
  finishEvent,
  leaseDueEvents,
  releaseEvent,
  setBackEventTimes,
  type TakenEvent,
} from '#server/db/tables/webhook-events.ts';
import { createQueueWorker } from '#server/platform/queue-worker.ts';
import type { Endpoint } from '#server/webhooks/webhook-endpoints.ts';
import { FARTHEST_DUE_MS, finalStateOf, nextTryAt } from '#server/webhooks/webhook-retries.ts';
import type { WebhookSender } from '#server/webhooks/webhook-sender.ts';

/** Deliveries to one endpoint at a time. */
export const DELIVERIES_PER_ENDPOINT = 4;
/** Outlives the longest delivery, which is two tries of the sender. */
const LEASE_MS = 30_000;
/** A delivery that a stop cuts off is tried again at the next start. */
const STOP_PATIENCE_MS = 1_000;

/** The result of a try. It names the endpoint's host only, because its path may be secret. */
export type WebhookOutcome = {
  readonly type: 'sent' | 'failed for now' | 'dead';
  readonly event: TakenEvent['type'];
  readonly host: string;
  readonly answer: string;
};

export type WebhookWorkerParts = {
  readonly database: OpenDatabase;
  readonly endpoints: readonly Endpoint[];
  /** Called before the first event is sent. */
  readonly openSender: () => Promise<WebhookSender>;
  readonly clock: () => number;
  /** From 0 up to 1, for jitter. */
  readonly random: () => number;
  readonly onOutcome: (outcome: WebhookOutcome) => void;
  readonly onError: (error: unknown) => void;
};

export type WebhookWorker = {
  /** An event was queued: look now. */
  readonly wake: () => void;
  /** Stops taking events, finishes or gives back those being sent, and closes the sender. */
  readonly stop: () => Promise<void>;
};

/** Starts sending. */
export function startWebhookWorker(parts: WebhookWorkerParts): WebhookWorker {
  const { database, endpoints, openSender, clock, random, onOutcome, onError } = parts;
  const worker = createQueueWorker({
    clock,
    clockToleranceMs: CLOCKS_DIFFER_MS,
    stopPatienceMs: STOP_PATIENCE_MS,
    onError,
  });
  const { leaseId, cutOff } = worker;
  /** Deliveries under way, by the endpoint's id. */
  const underWay = new Map<string, number>();
  let sender: Promise<WebhookSender> | undefined;

  const takeUp = async (): Promise<void> => {
    for (const endpoint of endpoints) {
      const most = DELIVERIES_PER_ENDPOINT - (underWay.get(endpoint.id) ?? 0);
      if (worker.isStopping() || most < 1) continue;
      const now = clock();
      const taken = await leaseDueEvents(database, {
        endpoint: endpoint.id,
        leaseId,
        leasedUntil: now + LEASE_MS,
        now,
        most,
      });
      for (const event of taken) begin(endpoint, event);
    }
  };

  const begin = (endpoint: Endpoint, event: TakenEvent): void => {
    const count = (change: number) => underWay.set(endpoint.id, (underWay.get(endpoint.id) ?? 0) + change);
    count(1);
    worker.track(deliver(endpoint, event), () => {
      count(-1);
      worker.wake();
    });
  };

  const deliver = async (endpoint: Endpoint, event: TakenEvent): Promise<void> => {
    const delivery = { id: event.id, body: event.payload, now: clock() };
    sender ??= openSender();
    const outcome = await (await sender).send(endpoint, delivery, cutOff);
    const now = clock();
    const { answer } = outcome;
    // A try that a stop cut off says nothing about the receiver.
    const isCutOff = cutOff.aborted && outcome.type === 'failed for now';
    const state = isCutOff ? null : finalStateOf(outcome, event, now);
    if (state === null) {
      const dueAt = isCutOff ? now : nextTryAt(outcome, event, { now, random });
      await releaseEvent(database.db, { event, leaseId, dueAt, answer });
    } else await finishEvent(database.db, { event, leaseId, state, answer, now });
    onOutcome({ type: state ?? 'failed for now', event: event.type, host: endpoint.host, answer });
  };

  worker.start({
    dropFutureTimes: (now, lostMs) =>
      setBackEventTimes(database.db, { leaseId, now, lostMs, farthest: now + FARTHEST_DUE_MS }),
    takeUp,
  });
  return {
    wake: worker.wake,
    stop: async () => {
      await worker.stop();
      (await sender)?.close();
    },
  };
}

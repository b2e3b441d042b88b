// Endpoints are independent, so one that hangs doesn't delay the others. An endpoint gets a lead's events one at a time, in order.
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { endLease } from '#server/jobs/queue.ts';
import { takeEvents, type WebhookJob } from '#server/jobs/webhook-jobs.ts';
import { backOffMs, startJobWorker, type JobWorker } from '#server/jobs/worker.ts';
import { HOUR_MS, MINUTE_MS } from '#server/platform/time.ts';
import type { Endpoint } from '#server/webhooks/webhook-events.ts';
import type { SendWebhook, WebhookSendOutcome } from '#server/webhooks/webhook-sender.ts';

/** Concurrent deliveries per endpoint. */
const DELIVERIES_PER_ENDPOINT = 4;
const STOP_TIMEOUT_MS = 1_000;

/** Contains only the endpoint's host, because its path may be secret. */
export type WebhookOutcome = {
  readonly type: 'sent' | 'failed for now' | 'dead';
  readonly event: WebhookJob['type'];
  readonly host: string;
  readonly response: string;
};

export type WebhookWorkerParts = {
  readonly database: OpenDatabase;
  readonly endpoints: readonly Endpoint[];
  readonly send: SendWebhook;
  readonly clock: () => number;
  readonly random: () => number;
  readonly onOutcome: (outcome: WebhookOutcome) => void;
  readonly onError: (error: unknown) => void;
};

export function startWebhookWorker(parts: WebhookWorkerParts): JobWorker {
  const { database, endpoints, send, clock, random, onOutcome, onError } = parts;
  const activeDeliveries = new Map<string, number>();
  const countDelivery = (id: string, change: number) =>
    activeDeliveries.set(id, (activeDeliveries.get(id) ?? 0) + change);

  const deliver = async (
    endpoint: Endpoint,
    event: WebhookJob,
    { leaseId, stopSignal }: { leaseId: string; stopSignal: AbortSignal },
  ): Promise<void> => {
    const delivery = { id: event.id, body: event.payload, now: clock() };
    const outcome = await send(endpoint, delivery, stopSignal);
    const now = clock();
    const reply = outcome.response;
    const lease = { id: event.id, leaseId };
    // An attempt cut off by a stop doesn't mean that the receiver failed.
    if (stopSignal.aborted && outcome.type === 'failed for now') {
      await endLease(database.db, 'webhook_events', lease, { reply, due_at: now });
      return;
    }
    const state = finalStateOf(outcome, event, now);
    const result =
      state === null
        ? { reply, due_at: nextAttemptAt(outcome, event, { now, random }) }
        : // Personal data is not kept once it is sent.
          { state, reply, finished_at: now, ...(state === 'sent' && { payload: '' }) };
    await endLease(database.db, 'webhook_events', lease, result);
    onOutcome({
      type: state ?? 'failed for now',
      event: event.type,
      host: endpoint.url.host,
      response: reply,
    });
  };

  return startJobWorker({
    database,
    table: 'webhook_events',
    clock,
    stopTimeoutMs: STOP_TIMEOUT_MS,
    take: async (lease) => {
      for (const { id: endpoint } of endpoints) {
        const limit = DELIVERIES_PER_ENDPOINT - (activeDeliveries.get(endpoint) ?? 0);
        if (limit < 1) continue;
        const events = await takeEvents(database.db, { ...lease, limit, endpoint });
        if (events.length > 0) return events;
      }
      return [];
    },
    run: async (event, lease) => {
      const endpoint = endpoints.find(({ id }) => id === event.endpoint)!;
      countDelivery(endpoint.id, 1);
      try {
        await deliver(endpoint, event, lease);
      } finally {
        countDelivery(endpoint.id, -1);
      }
    },
    onError,
  });
}

const SECOND_MS = 1_000;
const WAITS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
] as const;
const GIVE_UP_AFTER_MS = 24 * HOUR_MS;
const RETRY_AFTER_MAX_MS = 4 * HOUR_MS;

/** @returns null if the event is to be retried */
function finalStateOf(
  { type }: WebhookSendOutcome,
  { queued_at: since }: WebhookJob,
  now: number,
): 'sent' | 'dead' | null {
  if (type === 'sent') return 'sent';
  return type === 'gone' || now >= since + GIVE_UP_AFTER_MS ? 'dead' : null;
}

function nextAttemptAt(
  outcome: WebhookSendOutcome,
  { attempts, queued_at: since }: WebhookJob,
  { now, random }: { now: number; random: () => number },
): number {
  const requestedMs = outcome.type === 'failed for now' ? (outcome.retryAfterMs ?? 0) : 0;
  const waitMs = Math.max(backOffMs(WAITS_MS, attempts, random), Math.min(requestedMs, RETRY_AFTER_MAX_MS));
  return Math.min(now + waitMs, since + GIVE_UP_AFTER_MS);
}

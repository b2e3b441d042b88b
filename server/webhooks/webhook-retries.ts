// When an event that was not taken is tried again, and when it is given up.
import { HOUR_MS, MINUTE_MS } from '#server/platform/time.ts';
import type { TakenEvent } from '#server/db/tables/webhook-events.ts';
import { backOffMs } from '#server/platform/queue-worker.ts';
import type { WebhookSendOutcome } from '#server/webhooks/webhook-sender.ts';

const SECOND_MS = 1_000;
/** Waits before the second try, the third and so on; the last one repeats. */
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
/** After this time an event is dead; its last try is at that moment. */
const GIVE_UP_AFTER_MS = 24 * HOUR_MS;
/** The longest wait that a receiver may ask for with Retry-After. */
const RETRY_AFTER_MAX_MS = 4 * HOUR_MS;
/** Longer than any wait before a try, and than a lease. */
export const FARTHEST_DUE_MS = 6 * HOUR_MS;

/**
 * The final state of an event after a try; null when it is to be tried again.
 * @param now milliseconds since 1970
 */
export function finalStateOf(
  { type }: WebhookSendOutcome,
  { queued_at: since }: TakenEvent,
  now: number,
): 'sent' | 'dead' | null {
  if (type === 'sent') return 'sent';
  return type === 'gone' || now >= since + GIVE_UP_AFTER_MS ? 'dead' : null;
}

/** When an event is tried again. Milliseconds since 1970. */
export function nextTryAt(
  outcome: WebhookSendOutcome,
  { attempts, queued_at: since }: TakenEvent,
  { now, random }: { now: number; random: () => number },
): number {
  const requestedMs = outcome.type === 'failed for now' ? (outcome.retryAfterMs ?? 0) : 0;
  const waitMs = Math.max(backOffMs(WAITS_MS, attempts, random), Math.min(requestedMs, RETRY_AFTER_MAX_MS));
  return Math.min(now + waitMs, since + GIVE_UP_AFTER_MS);
}

// The part that every worker of a queue in the database shares: it looks for due rows when woken and at intervals, keeps track of
// deliveries, notices a clock that was set back, and stops without losing a row. What a row is, how many are taken and when one
// is tried again is up to its user.
import { randomUUIDv7 } from 'node:crypto';

import { startWakeLoop, type WakeLoop } from '#server/platform/wake-loop.ts';

/** Finds rows that another process queued, whose lease ran out, or whose next try is due. */
const POLL_MS = 1_000;
/** Jitter of a back-off: 30 % either way, so that a server that comes back does not meet all waiting rows at once. */
const JITTER = 0.3;

export type QueueWorker = {
  /** Marks the rows that this worker has leased. */
  readonly leaseId: string;
  /** Aborts when deliveries outlast the patience of {@link stop}. */
  readonly cutOff: AbortSignal;
  readonly isStopping: () => boolean;
  /** Starts to look for rows. Call it once. */
  readonly start: (queue: {
    /**
     * Makes rows due that a wrong clock put off into the future; runs at the start and after the clock went back.
     * @param lostMs by how much it went back while this worker ran; 0 at the start
     */
    readonly dropFutureTimes: (now: number, lostMs: number) => Promise<void>;
    /** Leases due rows and begins their deliveries. */
    readonly takeUp: () => Promise<void>;
  }) => void;
  /** A row was queued: look now. */
  readonly wake: () => void;
  /** Tracks a delivery until it ends; `onEnd` runs then, whether it failed or not. */
  readonly track: (delivery: Promise<void>, onEnd: () => void) => void;
  /**
   * Stops looking for rows, then waits for deliveries.
   * @param giveBack returns rows that were leased and not begun
   */
  readonly stop: (giveBack?: () => Promise<void>) => Promise<void>;
};

/**
 * Makes a worker at rest.
 * @param parts clock: milliseconds since 1970; clockToleranceMs: a clock that goes back by less was not set back;
 *   stopPatienceMs: how long a stop waits for deliveries before it cuts them off; onError: reports what failed unexpectedly
 */
export function createQueueWorker({
  clock,
  clockToleranceMs,
  stopPatienceMs,
  onError,
}: {
  clock: () => number;
  clockToleranceMs: number;
  stopPatienceMs: number;
  onError: (error: unknown) => void;
}): QueueWorker {
  const deliveries = new Set<Promise<void>>();
  const cutOff = new AbortController();
  let loop: WakeLoop | undefined;
  let stopping = false;

  const worker: QueueWorker = {
    leaseId: randomUUIDv7(),
    cutOff: cutOff.signal,
    isStopping: () => stopping,
    start: ({ dropFutureTimes, takeUp }) => {
      // The clock may have been set back while no process ran.
      let lastLookAt = Number.POSITIVE_INFINITY;
      const look = async (): Promise<void> => {
        const now = clock();
        if (now < lastLookAt - clockToleranceMs)
          await dropFutureTimes(now, Number.isFinite(lastLookAt) ? lastLookAt - now : 0);
        lastLookAt = now;
        await takeUp();
      };
      loop = startWakeLoop({ pollMs: POLL_MS, work: look, onError });
    },
    wake: () => loop?.wake(),
    track: (delivery, onEnd) => {
      const tracked = delivery.catch(onError).finally(() => {
        deliveries.delete(tracked);
        onEnd();
      });
      deliveries.add(tracked);
    },
    stop: async (giveBack) => {
      stopping = true;
      const patience = setTimeout(() => cutOff.abort(), stopPatienceMs);
      await loop?.stop();
      await giveBack?.().catch(onError);
      await Promise.all(deliveries);
      clearTimeout(patience);
    },
  };
  return worker;
}

/**
 * How long to wait before the next try, in milliseconds.
 * @param waitsMs the wait after the first try, the second and so on; the last one repeats
 * @param attempts tries made so far, at least 1
 * @param random from 0 up to 1
 */
export const backOffMs = (waitsMs: readonly number[], attempts: number, random: () => number): number =>
  Math.round((waitsMs[Math.min(attempts, waitsMs.length) - 1] ?? 0) * (1 - JITTER + 2 * JITTER * random()));

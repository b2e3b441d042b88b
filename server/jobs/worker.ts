// Does the jobs of one table: looks for due ones when woken and at intervals, and stops without losing one.
import { randomUUIDv7 } from 'node:crypto';

import { CLOCKS_DIFFER_MS } from '#server/db/engine/clocks.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { setBackTimes, type Job, type JobTable } from '#server/jobs/queue.ts';
import { startWakeLoop } from '#server/platform/wake-loop.ts';

/** Finds jobs that another process added, whose lease ran out or whose back-off is over. */
const POLL_MS = 1_000;
/** 30 % either way, so a server that comes back does not meet all waiting jobs at once. */
const JITTER = 0.3;

export type JobWorker = {
  /** Looks for jobs now. Call it after the commit that added one. */
  readonly wake: () => void;
  /** Takes no more jobs, and resolves when those in hand have ended. */
  readonly stop: () => Promise<void>;
};

/** Marks the jobs that this worker has leased. */
type Lease = { readonly leaseId: string; readonly now: number };

export type JobWorkerParts<Table extends JobTable> = {
  readonly database: OpenDatabase;
  readonly table: Table;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** How long a stop waits for jobs in hand before it cuts them off. */
  readonly stopPatienceMs: number;
  /** Leases the next jobs. None: nothing is due, or this worker has its hands full. */
  readonly take: (lease: Lease) => Promise<readonly Job<Table>[]>;
  /** Does a job, and ends its lease. cutOff: aborts when a stop has lost its patience */
  readonly run: (job: Job<Table>, worker: { leaseId: string; cutOff: AbortSignal }) => Promise<void>;
  /** Reports what failed unexpectedly. */
  readonly onError: (error: unknown) => void;
};

export function startJobWorker<Table extends JobTable>(parts: JobWorkerParts<Table>): JobWorker {
  const { database, table, clock, stopPatienceMs, take, run, onError } = parts;
  const leaseId = randomUUIDv7();
  const cutOff = new AbortController();
  const inHand = new Set<Promise<void>>();
  // The clock may have been set back while no process ran.
  let lastLookAt = Number.POSITIVE_INFINITY;
  let stopping = false;

  const look = async (): Promise<void> => {
    const now = clock();
    if (now < lastLookAt - CLOCKS_DIFFER_MS) {
      const lostMs = Number.isFinite(lastLookAt) ? lastLookAt - now : 0;
      await setBackTimes(database.db, table, { leaseId, now, lostMs });
    }
    lastLookAt = now;
    while (!stopping) {
      const jobs = await take({ leaseId, now: clock() });
      if (jobs.length === 0) return;
      for (const job of jobs) begin(job);
    }
  };

  const begin = (job: Job<Table>): void => {
    const running = run(job, { leaseId, cutOff: cutOff.signal })
      .catch(onError)
      .finally(() => {
        inHand.delete(running);
        loop.wake();
      });
    inHand.add(running);
  };

  const loop = startWakeLoop({ pollMs: POLL_MS, work: look, onError });

  return {
    wake: loop.wake,
    stop: async () => {
      stopping = true;
      const patience = setTimeout(() => cutOff.abort(), stopPatienceMs);
      await loop.stop();
      await Promise.all(inHand);
      clearTimeout(patience);
    },
  };
}

/**
 * How long to wait before the next attempt, in milliseconds.
 * @param waitsMs the wait after the first attempt, the second and so on; the last one repeats
 * @param attempts made so far, at least 1
 * @param random from 0 up to 1
 */
export const backOffMs = (waitsMs: readonly number[], attempts: number, random: () => number): number =>
  Math.round((waitsMs[Math.min(attempts, waitsMs.length) - 1] ?? 0) * (1 - JITTER + 2 * JITTER * random()));

// Runs due jobs when woken and at intervals, and stops without losing one.
import { randomUUIDv7 } from 'node:crypto';

import { CLOCKS_DIFFER_MS } from '#server/platform/time.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { makeQueuedJobsDue, type Job, type JobTable } from '#server/jobs/queue.ts';
import { startWakeLoop } from '#server/platform/background-work.ts';

const POLL_INTERVAL_MS = 1_000;
/** Spreads retries by 30 % either way, so they don't all reach a recovered server at once. */
const JITTER = 0.3;

export type JobWorker = {
  /** Call this after the commit that added a job. */
  readonly wake: () => void;
  /** Stops accepting jobs, and resolves once the running ones have finished. */
  readonly stop: () => Promise<void>;
};

type Lease = { readonly leaseId: string; readonly now: number };

export type JobWorkerParts<Table extends JobTable> = {
  readonly database: OpenDatabase;
  readonly table: Table;
  readonly clock: () => number;
  /** Running jobs are aborted this long after stop is called. */
  readonly stopTimeoutMs: number;
  readonly take: (lease: Lease) => Promise<readonly Job<Table>[]>;
  /** Runs a job and must end its lease. `stopSignal` aborts `stopTimeoutMs` after stop is called. */
  readonly run: (job: Job<Table>, worker: { leaseId: string; stopSignal: AbortSignal }) => Promise<void>;
  readonly onError: (error: unknown) => void;
};

export function startJobWorker<Table extends JobTable>(parts: JobWorkerParts<Table>): JobWorker {
  const { database, table, clock, stopTimeoutMs, take, run, onError } = parts;
  const leaseId = randomUUIDv7();
  const stopController = new AbortController();
  const runningJobs = new Set<Promise<void>>();
  let lastPolledAt = Number.POSITIVE_INFINITY;
  let stopping = false;

  const startDueJobs = async (): Promise<void> => {
    const now = clock();
    if (now < lastPolledAt - CLOCKS_DIFFER_MS) await makeQueuedJobsDue(database.db, table, { leaseId, now });
    lastPolledAt = now;
    while (!stopping) {
      const jobs = await take({ leaseId, now: clock() });
      if (jobs.length === 0) return;
      for (const job of jobs) startJob(job);
    }
  };

  const startJob = (job: Job<Table>): void => {
    const running = run(job, { leaseId, stopSignal: stopController.signal })
      .catch(onError)
      .finally(() => {
        runningJobs.delete(running);
        loop.wake();
      });
    runningJobs.add(running);
  };

  const loop = startWakeLoop({ pollMs: POLL_INTERVAL_MS, work: startDueJobs, onError });

  return {
    wake: loop.wake,
    stop: async () => {
      stopping = true;
      const abortTimer = setTimeout(() => stopController.abort(), stopTimeoutMs);
      await loop.stop();
      await Promise.all(runningJobs);
      clearTimeout(abortTimer);
    },
  };
}

/**
 * @param waitsMs waiting time after each attempt; the last one repeats
 * @param attempts number made so far, at least 1
 */
export const backOffMs = (waitsMs: readonly number[], attempts: number, random: () => number): number =>
  Math.round((waitsMs[Math.min(attempts, waitsMs.length) - 1] ?? 0) * (1 - JITTER + 2 * JITTER * random()));

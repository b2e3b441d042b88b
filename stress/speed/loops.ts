// Simulates a fixed number of visitors (closed loop), or a fixed rate regardless of response times (open loop).
import { setTimeout } from 'node:timers/promises';

export type Measured = {
  readonly count: number;
  readonly failed: number;
  readonly failure: string | null;
  readonly seconds: number;
  /** Sorted times in milliseconds; infinite for failures. */
  readonly times: readonly number[];
};

export type Visitors = {
  /** @returns milliseconds; throws if the flow fails */
  readonly flow: () => Promise<number>;
  readonly abandon: () => void;
};

/** Time for the last flows to end. */
const PATIENCE_MS = 10_000;
const CHECK_EVERY_MS = 100;
/** Refused visitors do not return at once. */
const AFTER_FAILURE_MS = 100;

export async function closedLoop(
  visitors: Visitors,
  { at, shouldContinue }: { at: number; shouldContinue: () => boolean },
): Promise<Measured> {
  const tally = createTally();
  let whenLastBegan = performance.now();
  const loops = Array.from({ length: at }, async () => {
    while (shouldContinue()) {
      whenLastBegan = performance.now();
      if (!(await tally.add(visitors.flow(), 0))) await setTimeout(AFTER_FAILURE_MS);
    }
  });
  // If the server stops responding, all visitors wait and no flow starts.
  await waitForEnd(loops, visitors, () => performance.now() - whenLastBegan > PATIENCE_MS);
  return tally.result();
}

export function forMs(ms: number): () => boolean {
  const end = performance.now() + ms;
  return () => performance.now() < end;
}

/** Times count from the scheduled start, so a stalling server cannot hide its delay. */
export async function openLoop(
  visitors: Visitors,
  { perSecond, ms }: { perSecond: number; ms: number },
): Promise<Measured> {
  const tally = createTally();
  const start = performance.now();
  const running: Promise<boolean>[] = [];
  const total = Math.round((perSecond * ms) / 1000);
  for (let started = 0; started < total; started += 1) {
    const dueMs = (started * 1000) / perSecond;
    const nowMs = performance.now() - start;
    if (nowMs < dueMs) await setTimeout(dueMs - nowMs);
    running.push(tally.add(visitors.flow(), performance.now() - start - dueMs));
  }
  const deadline = performance.now() + PATIENCE_MS;
  await waitForEnd(running, visitors, () => performance.now() > deadline);
  return tally.result();
}

function createTally() {
  const times: number[] = [];
  const start = performance.now();
  let failed = 0;
  let failure: string | null = null;
  return {
    add: async (flow: Promise<number>, lateMs: number): Promise<boolean> => {
      try {
        times.push((await flow) + lateMs);
        return true;
      } catch (error) {
        times.push(Number.POSITIVE_INFINITY);
        failed += 1;
        failure ??= error instanceof Error ? error.message : String(error);
        return false;
      }
    },
    result: (): Measured => ({
      count: times.length - failed,
      failed,
      failure,
      seconds: (performance.now() - start) / 1000,
      times: times.toSorted((a, b) => a - b),
    }),
  };
}

async function waitForEnd(
  running: readonly Promise<unknown>[],
  { abandon }: Visitors,
  isOver: () => boolean,
): Promise<void> {
  let ended = false;
  const all = Promise.all(running).then(() => (ended = true));
  while (!ended) {
    await Promise.race([all, setTimeout(CHECK_EVERY_MS)]);
    if (!ended && isOver()) abandon();
  }
}

export const quantile = ({ times }: Pick<Measured, 'times'>, share: number): number =>
  times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;

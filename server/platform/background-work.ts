import { setTimeout as wait } from 'node:timers/promises';

export type WakeLoop = {
  readonly wake: () => void;
  readonly stop: () => Promise<void>;
};

/** Runs the work again after a pause of `pollMs`, or when woken. The loop continues after an error. */
export function startWakeLoop({
  pollMs,
  work,
  onError,
}: {
  readonly pollMs: number;
  readonly work: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}): WakeLoop {
  let stopping = false;
  let wake = (): void => {};
  const run = async (): Promise<void> => {
    while (!stopping) {
      // Set before the work begins, so a call during the work is not missed.
      const woken = Promise.withResolvers<void>();
      wake = woken.resolve;
      await work().catch(onError);
      const timer = setTimeout(wake, pollMs);
      await woken.promise;
      clearTimeout(timer);
    }
  };
  const running = run();
  return {
    wake: () => wake(),
    stop: async () => {
      stopping = true;
      wake();
      await running;
    },
  };
}

/** Never runs the work twice at a time. Calls during a run share the next run. */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let newest: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  const startNext = () => {
    next = null;
    return work();
  };
  return () => {
    newest = next ??= newest.then(startNext, startNext);
    return newest;
  };
}

const PAUSE_FACTOR = 5;
const MAX_PAUSE_MS = 500;

/**
 * Keeps background work from slowing visitors. Without these pauses, sealing 3,000 consents delayed one flow in a hundred by a
 * third.
 * @returns a function to await after each piece of work: it pauses for five times as long as the work took
 */
export function createThrottle(): () => Promise<void> {
  let startedAt = performance.now();
  return async () => {
    await wait(Math.min((performance.now() - startedAt) * PAUSE_FACTOR, MAX_PAUSE_MS));
    startedAt = performance.now();
  };
}

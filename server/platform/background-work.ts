import { setTimeout as wait } from 'node:timers/promises';

export type WakeLoop = {
  readonly wake: () => void;
  readonly stop: () => Promise<void>;
};

/** @param parts pollMs: pause after a round. onError: receives a round's error, after which the loop continues */
export function startWakeLoop(parts: {
  pollMs: number;
  work: () => Promise<void>;
  onError: (error: unknown) => void;
}): WakeLoop {
  const { pollMs, work, onError } = parts;
  let stopping = false;
  let wake = (): void => {};
  const run = async (): Promise<void> => {
    while (!stopping) {
      // Before the round, so a call during the round is not missed.
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

/** Runs the work once at a time. Calls during a run share the next one. */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let newest: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  const begin = () => {
    next = null;
    return work();
  };
  return () => {
    newest = next ??= newest.then(begin, begin);
    return newest;
  };
}

// Lets background work run without slowing visitors. Without these rests, sealing 3,000 consents delayed one flow in a
// hundred by a third.

const RESTS = 5;
const MOST_REST_MS = 500;

/** @returns a function to await after each piece of work: it pauses for five times as long as the work took */
export function createRests(): () => Promise<void> {
  let begun = performance.now();
  return async () => {
    await wait(Math.min((performance.now() - begun) * RESTS, MOST_REST_MS));
    begun = performance.now();
  };
}

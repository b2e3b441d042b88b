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
  let sleep = new AbortController();
  const run = async (): Promise<void> => {
    while (!stopping) {
      sleep = new AbortController();
      try {
        await work();
      } catch (error) {
        onError(error);
      }
      // Rejects when woken, even if that was during the round.
      await wait(pollMs, undefined, { signal: sleep.signal }).catch(() => {});
    }
  };
  const wake = () => sleep.abort();
  const running = run();
  return {
    wake,
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

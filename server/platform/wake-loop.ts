// Repeats work, one round at a time: at intervals, and at once when woken.

export type WakeLoop = {
  /** Begins the next round now, or as soon as the current one ends. */
  readonly wake: () => void;
  /** Begins no further round; resolves after the current one. */
  readonly stop: () => Promise<void>;
};

/**
 * Starts the loop.
 * @param parts pollMs: rest after a round, unless woken. work: one round. onError: takes what a round threw; the loop goes on.
 * restsFirst: the first round comes after a rest
 */
export function startWakeLoop({
  pollMs,
  work,
  onError,
  restsFirst = false,
}: {
  pollMs: number;
  work: () => Promise<void>;
  onError: (error: unknown) => void;
  restsFirst?: boolean;
}): WakeLoop {
  let stopping = false;
  let awake = !restsFirst;
  let wakeUp: () => void = () => {};
  const wake = () => {
    awake = true;
    wakeUp();
  };
  const rest = () =>
    new Promise<void>((resolve) => {
      if (awake) return resolve();
      const timer = setTimeout(resolve, pollMs);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const run = async (): Promise<void> => {
    if (!awake) await rest();
    while (!stopping) {
      awake = false;
      try {
        await work();
      } catch (error) {
        onError(error);
      }
      await rest();
    }
  };
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

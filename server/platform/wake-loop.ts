// Work that is done again and again: at once when it is called for, else at intervals.

export type WakeLoop = {
  /** There is something to do: now, or as soon as what is being done is done. */
  readonly wake: () => void;
  /** Resolves after the work in hand. */
  readonly stop: () => Promise<void>;
};

/**
 * Starts one.
 * @param pollMs how long it rests when nobody wakes it
 * @param onError told what the work threw. The next round is the next try
 */
export function startWakeLoop({
  pollMs,
  work,
  onError,
}: {
  pollMs: number;
  work: () => Promise<void>;
  onError: (error: unknown) => void;
}): WakeLoop {
  let stopping = false;
  let awake = false;
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

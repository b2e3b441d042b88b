// Repeats work one round at a time, at intervals and when woken.

export type WakeLoop = {
  readonly wake: () => void;
  readonly stop: () => Promise<void>;
};

/**
 * @param parts pollMs: pause after a round. work: one round. onError: gets a round's error; the loop
 * continues. restsFirst: begins with a pause
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

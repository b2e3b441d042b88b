// Caches slow results for a limited time. Parallel callers share one computation.

export type Kept<Value> = {
  readonly get: (
    name: string,
    make: () => Promise<Value>,
    options?: { readonly again?: boolean },
  ) => Promise<Value>;
  readonly newest: (name: string) => Value | undefined;
};

export function createKept<Value>({
  keptMs,
  most,
  clock,
}: {
  readonly keptMs: number;
  readonly most: number;
  readonly clock: () => number;
}): Kept<Value> {
  const kept = new Map<string, { readonly value: Value; readonly at: number }>();
  const making = new Map<string, Promise<Value>>();

  async function makeAndKeep(name: string, make: () => Promise<Value>): Promise<Value> {
    try {
      const value = await make();
      kept.delete(name);
      kept.set(name, { value, at: clock() });
      for (const oldest of kept.keys()) {
        if (kept.size <= most) break;
        kept.delete(oldest);
      }
      return value;
    } finally {
      making.delete(name);
    }
  }

  return {
    get: async (name, make, { again = false } = {}) => {
      const found = kept.get(name);
      // The absolute difference limits the age even if the clock is set back.
      if (!again && found !== undefined && Math.abs(clock() - found.at) < keptMs) return found.value;
      const running = making.get(name) ?? makeAndKeep(name, make);
      making.set(name, running);
      return running;
    },
    newest: (name) => kept.get(name)?.value,
  };
}

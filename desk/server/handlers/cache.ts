// Caches slow results for a limited time. Parallel callers share one computation.

export function createCache<Value>({
  maxAgeMs,
  most,
  clock,
}: {
  readonly maxAgeMs: number;
  readonly most: number;
  readonly clock: () => number;
}) {
  const entries = new Map<string, { readonly value: Value; readonly at: number }>();
  const making = new Map<string, Promise<Value>>();

  async function makeAndStore(name: string, make: () => Promise<Value>): Promise<Value> {
    try {
      const value = await make();
      entries.delete(name);
      entries.set(name, { value, at: clock() });
      for (const oldest of entries.keys()) {
        if (entries.size <= most) break;
        entries.delete(oldest);
      }
      return value;
    } finally {
      making.delete(name);
    }
  }

  return {
    get: async (name: string, make: () => Promise<Value>, { again = false } = {}): Promise<Value> => {
      const found = entries.get(name);
      // The absolute difference limits the age even if the clock is set back.
      if (!again && found !== undefined && Math.abs(clock() - found.at) < maxAgeMs) return found.value;
      const running = making.get(name) ?? makeAndStore(name, make);
      making.set(name, running);
      return running;
    },
    newest: (name: string) => entries.get(name)?.value,
  };
}

// Caches slow results for a limited time. Parallel callers share one computation.

export function createCache<Value>({
  maxAgeMs,
  maxEntries,
  clock,
}: {
  readonly maxAgeMs: number;
  readonly maxEntries: number;
  readonly clock: () => number;
}) {
  const entries = new Map<string, { readonly value: Value; readonly at: number }>();
  const running = new Map<string, Promise<Value>>();

  async function computeAndStore(name: string, compute: () => Promise<Value>): Promise<Value> {
    try {
      const value = await compute();
      entries.delete(name);
      entries.set(name, { value, at: clock() });
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries) break;
        entries.delete(oldest);
      }
      return value;
    } finally {
      running.delete(name);
    }
  }

  return {
    get: async (name: string, compute: () => Promise<Value>, { again = false } = {}): Promise<Value> => {
      const found = entries.get(name);
      // The absolute difference limits the age even if the clock is set back.
      if (!again && found !== undefined && Math.abs(clock() - found.at) < maxAgeMs) return found.value;
      const result = running.get(name) ?? computeAndStore(name, compute);
      running.set(name, result);
      return result;
    },
    newest: (name: string) => entries.get(name)?.value,
  };
}

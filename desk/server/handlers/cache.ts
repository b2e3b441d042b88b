// Keeps what takes long for a while: callers who come meanwhile share it, and one piece of work runs once.

export type Kept<Value> = {
  /**
   * What is kept under a name, made when there is none or it is too old. A failure is not kept.
   * @param options again: makes it anew, unless it is being made
   */
  readonly get: (
    name: string,
    make: () => Promise<Value>,
    options?: { readonly again?: boolean },
  ) => Promise<Value>;
  /** The newest under a name, however old; undefined while there is none. */
  readonly newest: (name: string) => Value | undefined;
};

/** @param options keptMs: for how long. most: names that are kept. clock: milliseconds since 1970 */
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
      // A clock that was set back must not make it longer.
      if (!again && found !== undefined && Math.abs(clock() - found.at) < keptMs) return found.value;
      const running = making.get(name) ?? makeAndKeep(name, make);
      making.set(name, running);
      return running;
    },
    newest: (name) => kept.get(name)?.value,
  };
}

// Whether the database takes writes, judged by the last ones. Both engines report here where they commit.
import { writeFaultOf, type WriteFault } from '#server/db/engine/outages.ts';

/**
 * A full disk has room for a small write after one that failed, as in a page that is there: one that succeeds does not mean that the
 * next one will. So it counts as full until none has failed for this long.
 */
const FULL_FOR_MS = 60_000;

export type LastWrites = {
  /** To be called when something was written and committed. */
  readonly succeeded: () => void;
  /** To be called with what a write, or its commit, threw. Errors that say nothing about the database are ignored. */
  readonly failed: (error: unknown) => void;
  /** What keeps the database from taking writes; null when nothing does. */
  readonly fault: () => WriteFault | null;
};

/** @param clock milliseconds since 1970 */
export function createLastWrites(clock: () => number): LastWrites {
  let last: { readonly fault: WriteFault; readonly at: number; isOver: boolean } | null = null;
  return {
    succeeded: () => {
      if (last !== null) last.isOver = true;
    },
    failed: (error) => {
      const fault = writeFaultOf(error);
      if (fault !== null) last = { fault, at: clock(), isOver: false };
    },
    fault: () => {
      // A clock that was set back must not make it longer.
      if (last?.isOver && (last.fault !== 'full' || Math.abs(clock() - last.at) >= FULL_FOR_MS)) last = null;
      return last?.fault ?? null;
    },
  };
}

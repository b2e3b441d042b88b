import { writeFaultOf, type WriteFault } from '#server/db/engine/outages.ts';

/** A full disk may still have room for a small write, so one success doesn't clear the fault. */
const FULL_FOR_MS = 60_000;

export type LastWrites = {
  /** Call it after each commit with a write. */
  readonly succeeded: () => void;
  /** Ignores irrelevant errors. */
  readonly failed: (error: unknown) => void;
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
      // Setting the clock back must not prolong it.
      if (last?.isOver && (last.fault !== 'full' || Math.abs(clock() - last.at) >= FULL_FOR_MS)) last = null;
      return last?.fault ?? null;
    },
  };
}

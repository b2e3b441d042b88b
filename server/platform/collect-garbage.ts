// Collects garbage at moments that we choose: after the start, and in commands that work on many rows, never while visitors are served.
// V8 itself collects when the heap has grown, so a quiet process would keep the memory of its start (docs/decisions/0019-collect-garbage-after-the-start.md).
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let found: NodeJS.GCFunction | undefined;

function collector(): NodeJS.GCFunction {
  if (found === undefined) {
    setFlagsFromString('--expose-gc');
    found = runInNewContext('globalThis.gc') as NodeJS.GCFunction;
  }
  return found;
}

/**
 * Collects everything, and blocks the process for some ten milliseconds.
 *
 * A tick waits meanwhile. V8 forgets the shape of objects of which none is alive, and where it meets that shape again it keeps to
 * slower code for good. Each answer makes some ten ticks: without this one, an answer with the page takes a sixth more processor time.
 */
export function collectGarbage(): void {
  const collect = collector();
  process.nextTick(() => {});
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Beyond what starting needs, some 120 MB. */
const MOST_GARBAGE_BYTES = 12e6;

/**
 * Makes a collector for work on more rows than memory should hold. Call it now and then, as with each page: it collects when 12 MB have come.
 * V8 itself lets the heap of a short program grow to a multiple of its need. Not for a process that serves: visitors make 12 MB in
 * a fraction of a second, and each collection blocks all of them for some 30 ms.
 */
export function createCollector(): () => void {
  let needed = usedBytes();
  return () => {
    if (usedBytes() < needed + MOST_GARBAGE_BYTES) return;
    collector()({ type: 'major', execution: 'sync' });
    needed = usedBytes();
  };
}

/** In the heap, and outside it on its behalf, such as what was read from a socket. */
function usedBytes(): number {
  const { used_heap_size: inHeap, external_memory: outside } = getHeapStatistics();
  return inHeap + outside;
}

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
 * A full collection blocks for tens of milliseconds. It runs while a tick is pending; otherwise V8 forgets the shape of tick
 * objects, and each page response takes a sixth more processor time.
 */
export function collectGarbage(): void {
  const collect = collector();
  process.nextTick(() => {});
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Beyond the 120 MB that starting needs. */
const MOST_GARBAGE_BYTES = 12e6;

/**
 * Call the collector regularly, such as once per page of rows. V8 itself lets a short program's heap grow to a multiple of its
 * need. Not for servers, because each collection blocks for about 30 ms.
 */
export function createCollector(): () => void {
  let needed = usedBytes();
  return () => {
    if (usedBytes() < needed + MOST_GARBAGE_BYTES) return;
    collector()({ type: 'major', execution: 'sync' });
    needed = usedBytes();
  };
}

function usedBytes(): number {
  const { used_heap_size: inHeap, external_memory: outside } = getHeapStatistics();
  return inHeap + outside;
}

// Collects garbage at moments that we choose: after the start, and during work on many rows. V8 itself collects when the heap has grown,
// so a quiet process would keep the memory of its start (docs/decisions/0019-what-starting-leaves.md).
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: NodeJS.GCFunction | undefined;

/**
 * Collects everything, and blocks the process for some ten milliseconds.
 *
 * A tick waits meanwhile. V8 forgets the shape of objects of which none is alive, and where it meets that shape again it keeps to
 * slower code for good. Each answer makes some ten ticks: without this one, an answer with the page takes a sixth more processor time.
 */
export function collectGarbage(): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('globalThis.gc') as NodeJS.GCFunction;
  }
  process.nextTick(() => {});
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Their texts take some 15 MB. */
const ROWS_BETWEEN_COLLECTIONS = 20_000;

/**
 * Makes a collector for work on more rows than memory should hold. Call it with the number of rows of each page; it collects now and
 * then. Otherwise V8 lets the heap of a short program grow to a multiple of its need.
 */
export function createCollector(): (rows: number) => void {
  let since = 0;
  return (rows) => {
    since += rows;
    if (since < ROWS_BETWEEN_COLLECTIONS) return;
    collectGarbage();
    since = 0;
  };
}

// Gives memory back at a moment that we choose. V8 collects when its heap has grown, which on a quiet heap is much later than
// anybody who watches the process would like.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: NodeJS.GCFunction | undefined;

/** Collects everything; nothing else happens meanwhile, for some ten milliseconds. */
export function collectGarbage(): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('globalThis.gc') as NodeJS.GCFunction;
  }
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Rows whose texts take some 15 MB until somebody collects them. */
const COLLECTED_AFTER = 20_000;

/**
 * For work on more rows than memory should hold: to be told of each page, it collects after some thousand rows. Left to itself,
 * V8 lets the heap of a short program grow to a multiple of what it needs.
 */
export function createCollector(): (rows: number) => void {
  let since = 0;
  return (rows) => {
    since += rows;
    if (since < COLLECTED_AFTER) return;
    collectGarbage();
    since = 0;
  };
}

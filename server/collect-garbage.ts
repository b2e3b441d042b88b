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

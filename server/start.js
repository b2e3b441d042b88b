// `--check` only checks settings, words and ports, before the site is built.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { startChecked } from './platform/checked-start.js';

// As process 1 of a container, the server would ignore SIGTERM until main.ts handles it.
if (process.pid === 1) {
  process.on('SIGTERM', () => {
    if (process.listenerCount('SIGTERM') === 1) process.exit(143);
  });
}

await startChecked({ name: 'server', serves: true, run: () => import('./startup/main.ts') });

// After the start, most of the server's memory is garbage: a collection reduces it from 172 to 110 MiB while idle. With 32
// visitors, --max-semi-space-size=16 (package.json) reduces it from 311 to 225 MiB.
/** The first visitors get their response before the collection, which takes about 0.1 s. */
const COLLECT_AFTER_MS = 1_000;

// Afterwards, V8 collects garbage once the heap has grown by 75 %. It does not collect merely because the process is idle
// (--no-memory-reducer, package.json), because a collection drops compiled code that is not in use.
setTimeout(() => {
  setFlagsFromString('--expose-gc');
  const collect = /** @type {NodeJS.GCFunction} */ (runInNewContext('globalThis.gc'));
  // A tick must be pending during the collection; otherwise V8 forgets the shape of tick objects, and each page response takes a
  // sixth more processor time.
  process.nextTick(() => {});
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  setFlagsFromString('--heap-growing-percent=75');
}, COLLECT_AFTER_MS).unref();

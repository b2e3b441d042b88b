// Starts the server (startup/main.ts). With `--check` it only checks settings, words and ports, before the site is built. A second after the
// start it collects the garbage that starting left (docs/decisions/0019-collect-garbage-after-the-start.md).
import { setFlagsFromString } from 'node:v8';

import { startChecked } from './platform/checked-start.js';

// The first process of a container has no default for signals: until main.ts handles SIGTERM, it would be ignored.
if (process.pid === 1) {
  process.on('SIGTERM', () => {
    if (process.listenerCount('SIGTERM') === 1) process.exit(143);
  });
}

/** @type {() => void} */
let collectGarbage = () => {};
await startChecked({
  name: 'server',
  builds: process.argv.includes('--check'),
  serves: true,
  run: async () => {
    // Before the rest: --check ends in there.
    ({ collectGarbage } = await import('./platform/collect-garbage.ts'));
    await import('./startup/main.ts');
  },
});

/** The first visitors, who may have waited for the start, are answered before the garbage is collected, which takes some 0.1 s. */
const COLLECT_AFTER_MS = 1_000;

// From here V8 collects its old space when it has grown by 75 %. Each collection also drops compiled code that is unused at the moment, so
// no collection runs merely because the process is idle (--no-memory-reducer, package.json).
setTimeout(() => {
  collectGarbage();
  setFlagsFromString('--heap-growing-percent=75');
}, COLLECT_AFTER_MS).unref();

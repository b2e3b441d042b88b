// Serves the page. `--check` looks at all that can be wrong before the site is built, and starts nothing. What starting needs and
// running does not, memory above all, is given back here.
import { setFlagsFromString } from 'node:v8';

import { startChecked } from './platform/checked-start.js';

// The first process of a container has no default for signals: until main.ts listens, SIGTERM would be passed over.
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
  run: async () => {
    // Before the rest: --check ends in there.
    ({ collectGarbage } = await import('./platform/collect-garbage.ts'));
    await import('./run/main.ts');
  },
});

// One that takes the place of another has done so before it served (main.ts).
if (!process.argv.includes('--beside')) collectGarbage();
// From here the old space may grow by so much before it is collected. Each collection also forgets compiled code whose objects are
// gone for the moment; so nothing is collected for idleness alone (--no-memory-reducer in package.json, which Node reads first).
setFlagsFromString('--heap-growing-percent=75');

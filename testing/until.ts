// Waiting for what a real worker, database or mail server does at some time.
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';

const PATIENCE_MS = 10_000;
/** What comes late is looked for less often: it may be waiting for the time that looking takes. */
const LOOK_AFTER_MS = { first: 10, most: 100, growth: 1.2 };

/**
 * Waits until something holds; fails when it does not come to hold.
 * @param patienceMs for what takes longer than usual, as a process that starts on a busy machine
 * @param everyMs for what does not last, and is missed by a look that comes late
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  patienceMs = PATIENCE_MS,
  everyMs?: number,
): Promise<void> {
  const end = performance.now() + patienceMs;
  for (let pause = LOOK_AFTER_MS.first; !(await holds()); pause *= LOOK_AFTER_MS.growth) {
    if (performance.now() > end) assert.fail('It did not come to hold.');
    await setTimeout(everyMs ?? Math.min(pause, LOOK_AFTER_MS.most));
  }
}

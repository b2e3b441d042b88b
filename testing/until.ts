import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';

const PATIENCE_MS = 30_000;
/** Polls less often over time, so that polling does not slow the awaited work. */
const POLL_PAUSE_MS = { first: 10, most: 100, growth: 1.2 };

/** Also false while nothing is listening. */
export const isServed = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

/**
 * @param patienceMs longer for slow work, such as a starting process
 * @param everyMs for short-lived conditions
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  patienceMs = PATIENCE_MS,
  everyMs?: number,
): Promise<void> {
  const end = performance.now() + patienceMs;
  for (let pause = POLL_PAUSE_MS.first; !(await holds()); pause *= POLL_PAUSE_MS.growth) {
    if (performance.now() > end) assert.fail('The condition did not become true in time.');
    await setTimeout(everyMs ?? Math.min(pause, POLL_PAUSE_MS.most));
  }
}

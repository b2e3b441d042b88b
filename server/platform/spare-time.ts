// Lets work that nobody waits for run beside visitors. Without a rest, three thousand consents sealed in one go made one flow in a
// hundred take a third longer.
import { setTimeout } from 'node:timers/promises';

/** The work has a sixth of the time. */
const RESTS = 5;
/** A piece can take long because the database was busy or away. */
const MOST_REST_MS = 500;

/** Makes what long work awaits after each piece: a rest, five times as long as the piece took. */
export function createRests(): () => Promise<void> {
  let begun = performance.now();
  return async () => {
    await setTimeout(Math.min((performance.now() - begun) * RESTS, MOST_REST_MS));
    begun = performance.now();
  };
}

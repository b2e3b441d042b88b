// Runs background work without slowing visitors. Without rests, sealing 3,000 consents delayed one flow in a
// hundred by a third.
import { setTimeout } from 'node:timers/promises';

/** The work gets a sixth of the time. */
const RESTS = 5;
/** A piece may only have waited for the database. */
const MOST_REST_MS = 500;

/** @returns a function to await after each piece: it rests five times as long as the piece took */
export function createRests(): () => Promise<void> {
  let begun = performance.now();
  return async () => {
    await setTimeout(Math.min((performance.now() - begun) * RESTS, MOST_REST_MS));
    begun = performance.now();
  };
}

// Pauses between the pages of an export to leave time for visitors.
import { setTimeout } from 'node:timers/promises';

/**
 * Ratio of pause to work. With 4 and 6, visitors on two cores with PostgreSQL kept 0.88 to 0.9 of their speed; with 9 they kept 0.96, and
 * an export took twice as long as with 4. Measured by `npm run stress:speed desk`.
 */
const REST = 9;
/** Idle connections are closed after a minute. */
const LONGEST_REST_MS = 5_000;

/** Pauses between pages. Empty pages cause no pause, because with rare matches the connection would be idle for too long. */
export async function* restingBetween(
  pages: AsyncIterable<{ readonly text: string }>,
): AsyncGenerator<string, void, void> {
  let begun = performance.now();
  for await (const { text } of pages) {
    if (text === '') continue;
    const workedMs = performance.now() - begun;
    yield text;
    await setTimeout(Math.min(workedMs * REST, LONGEST_REST_MS));
    begun = performance.now();
  }
}

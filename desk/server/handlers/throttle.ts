// Rests between the pages of an export: visitors share the machine with it.
import { setTimeout } from 'node:timers/promises';

/**
 * An export rests this many times as long as it worked. With 4 and 6, visitors on two cores with PostgreSQL kept 0.88 to 0.9 of their speed; with
 * 9, 0.96, and an export took twice as long as with 4. `npm run prove:desk-export` measures it.
 */
const REST = 9;
/** A connection on which nothing moves is cut off after a minute. */
const LONGEST_REST_MS = 5_000;

/**
 * Passes on the texts of pages, with a rest after each. Pages without text pass without one: a filter that few people fit would keep the
 * connection silent for too long.
 * @param options now: a clock in milliseconds. rest: waits for a number of milliseconds
 */
export async function* restingBetween(
  pages: AsyncIterable<{ readonly text: string }>,
  {
    now = () => performance.now(),
    rest = (ms) => setTimeout(ms),
  }: { readonly now?: () => number; readonly rest?: (ms: number) => Promise<void> } = {},
): AsyncGenerator<string, void, void> {
  let begun = now();
  for await (const { text } of pages) {
    if (text === '') continue;
    const workedMs = now() - begun;
    yield text;
    await rest(Math.min(workedMs * REST, LONGEST_REST_MS));
    begun = now();
  }
}

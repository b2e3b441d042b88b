// Clocks differ between machines and are corrected. Slightly ahead counts as now; far ahead is a wrong clock, and nothing may
// wait for it.

/** Between processes that share a database. Milliseconds. */
export const CLOCKS_DIFFER_MS = 5_000;

/**
 * A time ahead of every clock doesn't count.
 * @param at and now: milliseconds since 1970
 */
export const isRecent = (at: number, spanMs: number, now: number): boolean =>
  at <= now + CLOCKS_DIFFER_MS && now - at < spanMs;

// Clocks differ between machines and are corrected. A time slightly ahead of ours counts as now; one far ahead comes from a wrong
// clock, and nothing may wait for it.

/** Between processes that share a database. Milliseconds. */
export const CLOCKS_DIFFER_MS = 5_000;

/**
 * A time ahead of every clock doesn't count.
 * @param at and now: milliseconds since 1970
 */
export const isRecent = (at: number, spanMs: number, now: number): boolean =>
  at <= now + CLOCKS_DIFFER_MS && now - at < spanMs;

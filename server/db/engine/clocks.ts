// Clocks are corrected now and then, and those of several machines differ. A time a little ahead of ours counts as now; one far ahead
// comes from a wrong clock, and nothing may wait for it.

/** Maximum difference between the clocks of processes that share a database. Milliseconds. */
export const CLOCKS_DIFFER_MS = 5_000;

/**
 * Whether something happened within the last `spanMs`. A time ahead of every clock does not count.
 * @param at and now: milliseconds since 1970
 */
export const isRecent = (at: number, spanMs: number, now: number): boolean =>
  at <= now + CLOCKS_DIFFER_MS && now - at < spanMs;

// Clocks are set right now and then, and those of several machines differ. A time a little ahead of ours is now; one far
// ahead was told by a clock that was wrong, and nothing may wait until it has come.

/** The clocks of processes that share a database differ by less. Milliseconds. */
export const CLOCKS_DIFFER_MS = 5_000;

/**
 * Whether something happened within a span of time that ends now. What lies ahead of every clock did not.
 * @param at and now: milliseconds since 1970
 */
export const isRecent = (at: number, spanMs: number, now: number): boolean =>
  at <= now + CLOCKS_DIFFER_MS && now - at < spanMs;

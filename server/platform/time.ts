export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** ISO 8601 in UTC. A number beyond the calendar, as in a damaged row, is written unchanged. */
export function isoTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString();
}

// Clocks differ between machines and are corrected. Slightly ahead counts as now; far ahead is a wrong clock, and nothing may
// wait for it.

export const CLOCKS_DIFFER_MS = 5_000;

/** Returns false for a time further ahead than clocks differ. */
export const isRecent = (at: number, spanMs: number, now: number): boolean =>
  at <= now + CLOCKS_DIFFER_MS && now - at < spanMs;

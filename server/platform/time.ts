// Spans of time, and how a moment is written.

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/**
 * Writes a moment in ISO 8601, in UTC. A damaged or forged row may hold a number beyond the calendar; it is written as it is.
 * @param ms milliseconds since 1970
 */
export function isoTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString();
}

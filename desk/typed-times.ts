import { DAY_MS, HOUR_MS } from '#server/platform/time.ts';

const UNITS_MS = { h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS } as const;

/**
 * Reads `2026-11-01` (UTC midnight), `2026-11-01T09:30:00Z`, or `12h`, `7d`, `4w` ago.
 * @returns milliseconds since 1970, or null if unreadable
 */
export function readWhen(text: string, now: number): number | null {
  const [, count, unit] = /^(\d{1,4})([hdw])$/.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?(\.\d+)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)) return null;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return null;
  // JavaScript accepts 31 February as a day in March.
  return new Date(Date.parse(text.slice(0, 10))).toISOString().startsWith(text.slice(0, 10)) ? ms : null;
}

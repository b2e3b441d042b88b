import { DAY_MS, HOUR_MS } from '#server/platform/time.ts';
import { areNamedDays, dayOf, namedDays, readDay, startOfDay } from '#shared/days.ts';

const UNITS_MS = { h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS } as const;

/**
 * Reads the beginning of a day (`2026-11-01`, `yesterday`, `this-week`), `2026-11-01T09:30:00Z`, or `12h`, `7d`, `4w` ago.
 * @returns milliseconds since 1970, or null if unreadable
 */
export function readWhen(text: string, now: number, timeZone: string): number | null {
  const [, count, unit] = /^(\d{1,4})([hdw])$/.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
  const day = areNamedDays(text) ? namedDays(text, dayOf(now, timeZone)).first : readDay(text);
  if (day !== null) return startOfDay(day, timeZone);
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?(\.\d+)?(Z|[+-]\d{2}:\d{2})$/.test(text)) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) || readDay(text.slice(0, 10)) === null ? null : ms;
}

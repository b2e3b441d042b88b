import { clockTime } from '#shared/days.ts';

/** Example: 2026-11-21 09:30 */
export const formatMinute = (iso: string, timeZone: string): string =>
  formatSecond(iso, timeZone).slice(0, 16);

/** Example: 2026-11-21 09:30:05 */
export function formatSecond(iso: string, timeZone = 'UTC'): string {
  const ms = Date.parse(iso);
  // A damaged row can contain a number beyond the calendar.
  const shown = Number.isNaN(ms) ? iso : new Date(clockTime(ms, timeZone)).toISOString();
  return shown.slice(0, 19).replace('T', ' ');
}

/** Returns text that isn't a time unchanged. */
export const formatIfTime = (text: string, timeZone?: string): string =>
  /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? formatSecond(text, timeZone) : text;

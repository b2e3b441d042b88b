// How times and days are written: in the reader's zone, with UTC beside them for those who compare with a log.

/** The reader's zone, unless a test says another. */
type Zone = { readonly timeZone?: string };

const format = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-GB', { hourCycle: 'h23', ...options });

const TIME = { hour: '2-digit', minute: '2-digit' } as const;
const DAY = { day: 'numeric', month: 'short' } as const;

/** Whether two times fall on the same day of the zone. */
const isSameDay = (one: Date, other: Date, zone: Zone): boolean => {
  const day = format({ year: 'numeric', month: 'numeric', day: 'numeric', ...zone });
  return day.format(one) === day.format(other);
};

/** 23 Nov 2026, 07:17. */
export const dateTime = (iso: string, zone: Zone = {}): string =>
  format({ ...DAY, year: 'numeric', ...TIME, ...zone }).format(new Date(iso));

/** As short as it can be without doubt: 07:17 today, 22 Nov, 07:17 in this year, 22 Nov 2025 before. */
export function shortTime(iso: string, now = new Date(), zone: Zone = {}): string {
  const at = new Date(iso);
  if (isSameDay(at, now, zone)) return format({ ...TIME, ...zone }).format(at);
  const year = format({ year: 'numeric', ...zone });
  if (year.format(at) === year.format(now)) return format({ ...DAY, ...TIME, ...zone }).format(at);
  return format({ ...DAY, year: 'numeric', ...zone }).format(at);
}

/** 2026-11-23 07:17:05, in UTC. */
export const utcTime = (iso: string): string => new Date(iso).toISOString().slice(0, 19).replace('T', ' ');

/** A day without a time, as 23 Nov; days are days of UTC everywhere. @param day 2026-11-23 */
export const dayName = (day: string): string => format({ ...DAY, timeZone: 'UTC' }).format(new Date(day));

/** The day of UTC that a time falls on, as the filters write it: 2026-11-23. @param daysBefore how many days earlier */
export const dayOf = (time: Date, daysBefore = 0): string =>
  new Date(time.getTime() - daysBefore * 86_400_000).toISOString().slice(0, 10);

// The days that the list of lost leads is about, as they stand in the page's address: `days=7`, or `from` and `to`. Days are those of UTC.
import { dayOf } from '#desk/web/ui/dates.ts';

export type LostDays =
  | { readonly type: 'last'; readonly days: number }
  | { readonly type: 'between'; readonly from: string; readonly to: string };

/** What the page offers. The data of codes is kept for RETENTION_DAYS, 30 unless the operator set another number. */
export const OFFERED_DAYS = [1, 7, 30, 90] as const;
const DEFAULT_DAYS = 7;
const DAYS_LIMIT = 3_660;

/** A day such as 2026-11-23 that is in the calendar. */
export const isDay = (text: string | null): text is string => {
  if (text === null || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && dayOf(new Date(ms)) === text;
};

/** The days of an address; the last seven where it says none, or what cannot be read. Days in the wrong order are turned. */
export function readLostDays(query: URLSearchParams): LostDays {
  const from = query.get('from');
  const to = query.get('to');
  if (isDay(from) && isDay(to))
    return from <= to ? { type: 'between', from, to } : { type: 'between', from: to, to: from };
  const days = Number(query.get('days'));
  return {
    type: 'last',
    days: Number.isInteger(days) && days >= 1 && days <= DAYS_LIMIT ? days : DEFAULT_DAYS,
  };
}

/** The query of an address, without what is so by default. */
export function lostDaysQuery(days: LostDays): Readonly<Record<string, string>> {
  if (days.type === 'between') return { from: days.from, to: days.to };
  return days.days === DEFAULT_DAYS ? {} : { days: String(days.days) };
}

/**
 * First and last day, both included; today is one of the last days.
 * @param now milliseconds since 1970
 */
export function spanOfDays(days: LostDays, now: number): { readonly from: string; readonly to: string } {
  if (days.type === 'between') return { from: days.from, to: days.to };
  return { from: dayOf(new Date(now), days.days - 1), to: dayOf(new Date(now)) };
}

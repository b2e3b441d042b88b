import { dayOf } from '#desk/web/ui/dates.ts';

export type LostDays =
  | { readonly type: 'last'; readonly days: number }
  | { readonly type: 'between'; readonly from: string; readonly to: string };

/** RETENTION_DAYS limits the data; the default is 30. */
export const OFFERED_DAYS = [1, 7, 30, 90] as const;
const DEFAULT_DAYS = 7;
const DAYS_LIMIT = 3_660;

export const isDay = (text: string | null): text is string => {
  if (text === null || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && dayOf(new Date(ms)) === text;
};

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

export function lostDaysQuery(days: LostDays): Readonly<Record<string, string>> {
  if (days.type === 'between') return { from: days.from, to: days.to };
  return days.days === DEFAULT_DAYS ? {} : { days: String(days.days) };
}

/**
 * First and last day, both included; the last days include today.
 * @param now milliseconds since 1970
 */
export function spanOfDays(days: LostDays, now: number): { readonly from: string; readonly to: string } {
  if (days.type === 'between') return { from: days.from, to: days.to };
  return { from: dayOf(new Date(now), days.days - 1), to: dayOf(new Date(now)) };
}

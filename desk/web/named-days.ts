import { dayAsText, dayOf, NAMED_DAYS, namedDays, type NamedDays } from '#shared/days.ts';

export const DAYS_NAMES: Readonly<Record<NamedDays, string>> = {
  today: 'Today',
  yesterday: 'Yesterday',
  'this-week': 'This week',
  'last-week': 'Last week',
};

/** First and last day, both included. */
export type DaySpan = { readonly from: string; readonly to: string };

export function spanNamed(name: NamedDays, now: number, timeZone: string): DaySpan {
  const today = dayOf(now, timeZone);
  const { first, last } = namedDays(name, today);
  return { from: dayAsText(first), to: dayAsText(Math.min(last, today)) };
}

/** On a Monday, "today" and "this week" are the same days; the first name wins. */
export const nameOfSpan = (
  { from, to }: { readonly [Name in keyof DaySpan]?: string | undefined },
  now: number,
  timeZone: string,
): NamedDays | undefined =>
  NAMED_DAYS.find((name) => {
    const span = spanNamed(name, now, timeZone);
    return span.from === from && span.to === to;
  });

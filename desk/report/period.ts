import type { Span } from '#server/db/queries/report-figures.ts';
import { DAY_MS } from '#server/platform/time.ts';
import { areNamedDays, clockTime, dayOf, momentAt, namedDays, readDay, startOfDay } from '#shared/days.ts';

export type Period = Span & {
  readonly name: string;
  readonly beforeName: string;
  readonly before: Span;
};

/** About ten years. */
const DAYS_LIMIT = 3_660;

/**
 * Reads `7d` or `4w` (ending today), `today`, `yesterday`, `this-week`, `last-week`, or a month such as `2026-10`.
 * @returns null if invalid or in the future
 */
export function readPeriod(text: string, now: number, timeZone: string): Period | null {
  const days = readDays(text, dayOf(now, timeZone));
  if (days === null) return null;
  const { first, end, firstBefore, beforeName, isOnlyLastDayPart = false } = days;
  const from = startOfDay(first, timeZone);
  const to = startOfDay(end, timeZone);
  const fromBefore = startOfDay(firstBefore, timeZone);
  if (from > now) return null;
  const whole = { name: text, from, to, beforeName, before: { from: fromBefore, to: from } };
  if (to <= now) return whole;
  // A period that goes on is compared with the previous one up to the same time on the clock.
  const until = momentAt(clockTime(now + 1, timeZone) - (first - firstBefore) * DAY_MS, timeZone);
  return {
    ...whole,
    to: now + 1,
    before: { from: fromBefore, to: Math.min(from, until) },
    beforeName: until >= from || isOnlyLastDayPart ? beforeName : `the same part of ${beforeName}`,
  };
}

/** `end` is the day after the last one. */
function readDays(text: string, today: number) {
  if (areNamedDays(text)) {
    const { first, last } = namedDays(text, today);
    const firstBefore = 2 * first - last - 1;
    return { first, end: last + 1, firstBefore, beforeName: first === last ? DAY_BEFORE : 'the week before' };
  }
  const [, count, unit] = /^(\d{1,4})([dw])$/.exec(text) ?? [];
  if (count !== undefined) {
    const days = Number(count) * (unit === 'w' ? 7 : 1);
    if (days < 1 || days > DAYS_LIMIT) return null;
    const first = today - days + 1;
    const beforeName = days === 1 ? DAY_BEFORE : `the ${days} days before`;
    return { first, end: today + 1, firstBefore: first - days, beforeName, isOnlyLastDayPart: days > 1 };
  }
  const first = readDay(`${text}-01`);
  if (first === null || first < 0) return null;
  const month = (offset: number) => readDay(`${monthOf(text, offset)}-01`)!;
  return { first, end: month(1), firstBefore: month(-1), beforeName: 'the month before' };
}

const DAY_BEFORE = 'the day before';

const monthOf = (month: string, offset: number): string => {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return new Date(Date.UTC(year, number - 1 + offset)).toISOString().slice(0, 7);
};

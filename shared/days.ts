// Days of a time zone, as whole numbers since 1970. A day on which the clocks change lasts 23 or 25 hours.
import { orNull } from '#shared/or-null.ts';

const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatIn(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  // Swedish dates have the order of ISO 8601.
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  formats.set(timeZone, format);
  return format;
}

/** Accepts IANA names such as Europe/Berlin, but no offsets such as +01:00. */
export const isTimeZone = (name: string): boolean =>
  /^[a-z]/i.test(name) && orNull(() => formatIn(name)) !== null;

/** @returns the time on a clock in this time zone, in milliseconds, as if the clock showed UTC */
export function clockTime(ms: number, timeZone: string): number {
  if (timeZone === 'UTC') return ms;
  const second = Math.floor(ms / 1000) * 1000;
  return Date.parse(`${formatIn(timeZone).format(second).replace(' ', 'T')}Z`) + (ms - second);
}

/** @returns the first moment at which a clock in this time zone shows at least `clockMs` */
export function momentAt(clockMs: number, timeZone: string): number {
  const withOffsetAt = (ms: number) => clockMs - (clockTime(ms, timeZone) - ms);
  const moments = [withOffsetAt(clockMs - DAY_MS), withOffsetAt(clockMs + DAY_MS)];
  const latest = Math.max(...moments);
  if (moments[0] === moments[1]) return latest;
  // The clocks change within a day of this moment.
  return firstMoment(Math.min(...moments) - 1, latest, (ms) => clockTime(ms, timeZone) >= clockMs);
}

/** Finds the first moment at which `holds` is true. It must be false at `before` and true at `after`. */
function firstMoment(before: number, after: number, holds: (ms: number) => boolean): number {
  if (after - before <= 1) return after;
  const middle = Math.floor((before + after) / 2);
  return holds(middle) ? firstMoment(before, middle, holds) : firstMoment(middle, after, holds);
}

export const dayOf = (ms: number, timeZone: string): number => Math.floor(clockTime(ms, timeZone) / DAY_MS);

export const startOfDay = (day: number, timeZone: string): number => momentAt(day * DAY_MS, timeZone);

/** Weeks begin on Monday; 1970 began on a Thursday. */
export const mondayOf = (day: number): number => day - ((((day + 3) % WEEK_DAYS) + WEEK_DAYS) % WEEK_DAYS);

/** Example: 2026-11-23 */
export const dayAsText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

/** After this year, the year of a date may not have four digits in some time zone. */
const LAST_YEAR = '9998';

/** @returns null unless the text is a day of the calendar since 1970, such as 2026-11-23 */
export function readDay(text: string): number | null {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : NaN;
  // JavaScript reads 31 February as a day in March.
  const isDay = ms >= 0 && text.slice(0, 4) <= LAST_YEAR && dayAsText(ms / DAY_MS) === text;
  return isDay ? ms / DAY_MS : null;
}

export const NAMED_DAYS = ['today', 'yesterday', 'this-week', 'last-week'] as const;
export type NamedDays = (typeof NAMED_DAYS)[number];

export const areNamedDays = (text: string): text is NamedDays => NAMED_DAYS.some((name) => name === text);

/** @returns the first and the last day, which may be in the future */
export function namedDays(name: NamedDays, today: number): { readonly first: number; readonly last: number } {
  const monday = mondayOf(today);
  if (name === 'today') return { first: today, last: today };
  if (name === 'yesterday') return { first: today - 1, last: today - 1 };
  if (name === 'this-week') return { first: monday, last: monday + WEEK_DAYS - 1 };
  return { first: monday - WEEK_DAYS, last: monday - 1 };
}

export type ClockOffset = {
  /** Excluded. */
  readonly until: number;
  readonly offsetMs: number;
};

/** Splits a span of time where the clocks change. */
export function clockOffsets(from: number, to: number, timeZone: string): readonly ClockOffset[] {
  const offsetAt = (ms: number) => clockTime(ms, timeZone) - ms;
  const offsets: ClockOffset[] = [];
  for (let at = from; timeZone !== 'UTC' && at < to - 1;) {
    const next = Math.min(to - 1, at + DAY_MS);
    const offsetMs = offsetAt(at);
    if (offsetAt(next) !== offsetMs)
      offsets.push({ until: firstMoment(at, next, (ms) => offsetAt(ms) !== offsetMs), offsetMs });
    at = next;
  }
  return [...offsets, { until: to, offsetMs: offsetAt(to - 1) }];
}

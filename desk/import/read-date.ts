// Reads the dates that mail and CRM programs write.
import { readDay } from '#shared/days.ts';

/** The order of day and month in a date such as 3/4/2024. */
export type DateOrder = 'dmy' | 'mdy';

/** Such as "T10:20:30.123", " 10:20" or ", 3:20 PM". */
const TIME = String.raw`(?:,?[ T]+(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:\.\d+)?)?(?: ?(?<half>[AP]M))?)?`;
/** Such as "Z", " UTC" or "+01:00". */
const ZONE = String.raw`(?: ?(?<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2}))?`;
/** Such as 2024-03-04 or 2024/3/4. */
const YEAR_FIRST = new RegExp(
  `^(?<year>\\d{4})([-/])(?<month>\\d{1,2})\\2(?<day>\\d{1,2})${TIME}${ZONE}$`,
  'i',
);
/** Such as 4.3.2024. */
const DAY_FIRST = new RegExp(`^(?<day>\\d{1,2})\\.(?<month>\\d{1,2})\\.(?<year>\\d{4})${TIME}${ZONE}$`, 'i');
/** Such as 3/4/2024. */
const SLASHED = new RegExp(`^(?<one>\\d{1,2})/(?<two>\\d{1,2})/(?<year>\\d{4})${TIME}${ZONE}$`, 'i');

/**
 * Reads 2024-03-04, 2024-03-04 10:20:30, 2024-03-04T10:20:30+01:00, 4.3.2024 or 3/4/2024; without a zone, as UTC.
 * @returns milliseconds since 1970; `ambiguous` if day and month could be swapped
 */
export function readDate(text: string, order: DateOrder | undefined): number | 'ambiguous' | 'invalid' {
  const plain = (YEAR_FIRST.exec(text) ?? DAY_FIRST.exec(text))?.groups;
  const slashed = SLASHED.exec(text)?.groups;
  const parts = plain ?? slashed;
  if (parts === undefined) return 'invalid';
  let [month, day] = [Number(parts['month']), Number(parts['day'])];
  if (slashed !== undefined) {
    const [one, two] = [Number(slashed['one']), Number(slashed['two'])];
    const dateOrder = order ?? (one > 12 ? 'dmy' : two > 12 || one === two ? 'mdy' : undefined);
    if (dateOrder === undefined) return 'ambiguous';
    [day, month] = dateOrder === 'dmy' ? [one, two] : [two, one];
  }
  const { year, hour = '0', minute = '0', second = '0', half, zone = 'Z' } = parts;
  const hour24 = half === undefined ? Number(hour) : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0);
  const date = `${year}-${twoDigits(month)}-${twoDigits(day)}`;
  const offset = /^[+-]/.test(zone) ? zone.replace(/^(...):?(..)$/, '$1:$2') : 'Z';
  const ms = Date.parse(`${date}T${twoDigits(hour24)}:${twoDigits(minute)}:${twoDigits(second)}${offset}`);
  // Date.parse accepts 30 February.
  return Number.isNaN(ms) || readDay(date) === null ? 'invalid' : ms;
}

const twoDigits = (value: number | string): string => String(value).padStart(2, '0');

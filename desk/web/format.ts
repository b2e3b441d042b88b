import { dayOf } from '#shared/days.ts';
import { pluralForm } from '#shared/words.ts';

/** Shown for a missing value. */
export const NONE = '–';

export const sentenceCase = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

const NUMBERS = new Intl.NumberFormat('en-GB');

export const number = (value: number): string => NUMBERS.format(value);

const SHORT = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 });

/** Uses at most five characters: 9,999, then 12.3K. */
export const shortNumber = (value: number): string => (value < 10_000 ? NUMBERS : SHORT).format(value);

const PERCENT = new Intl.NumberFormat('en-GB', { style: 'percent' });

/** @param share from 0 to 1 */
export const percent = (share: number): string => PERCENT.format(share);

const PRECISE = new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 1 });

/**
 * Example: 8.5%
 * @param share from 0 to 1
 */
export const preciseShare = (share: number): string => PRECISE.format(share);

export const counted = (count: number, one: string, other = `${one}s`): string =>
  `${number(count)} ${pluralForm({ one, other }, count, 'en')}`;

export const people = (count: number): string => counted(count, 'person', 'people');

const format = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-GB', { hourCycle: 'h23', ...options });

const TIME = { hour: '2-digit', minute: '2-digit' } as const;
const DAY = { day: 'numeric', month: 'short' } as const;

/** Example: 23 Nov 2026, 07:17 */
export const dateTime = (iso: string, timeZone: string): string =>
  format({ ...DAY, year: 'numeric', ...TIME, timeZone }).format(new Date(iso));

/** Examples: 07:17 today, 22 Nov, 07:17 this year, 22 Nov 2025 earlier */
export function shortTime(iso: string, timeZone: string, now = new Date()): string {
  const at = new Date(iso);
  if (dayOf(at.getTime(), timeZone) === dayOf(now.getTime(), timeZone))
    return format({ ...TIME, timeZone }).format(at);
  const year = format({ year: 'numeric', timeZone });
  if (year.format(at) === year.format(now)) return format({ ...DAY, ...TIME, timeZone }).format(at);
  return format({ ...DAY, year: 'numeric', timeZone }).format(at);
}

/** Example: 2026-11-23 07:17:05, in UTC */
export const utcTime = (iso: string): string => new Date(iso).toISOString().slice(0, 19).replace('T', ' ');

/** Example: 23 Nov for 2026-11-23 */
export const dayName = (day: string): string => format({ ...DAY, timeZone: 'UTC' }).format(new Date(day));

/** Example: 23 Nov 2026 for 2026-11-23 */
export const dayAndYear = (day: string): string =>
  format({ ...DAY, year: 'numeric', timeZone: 'UTC' }).format(new Date(day));

export const ROLE_NAMES = { read: 'May read', all: 'May read and change' } as const;

export const PEOPLE_IN_STATE = {
  verified: 'Leads',
  suppressed: 'Suppressed leads',
  unverified: 'Unverified people',
  imported: 'Imported people',
} as const;

export const NO_LEADS =
  'Leads appear here when visitors enter a code. Suppressed leads are listed separately.';

const SUPPRESSION_REASONS: Readonly<Record<string, string>> = {
  'by-hand': 'Stopped by hand',
  unsubscribed: 'Unsubscribed',
  complained: 'Reported as spam',
  bounced: 'Mail came back',
  erased: 'Erased',
};

export const suppressionReason = (reason: string): string => SUPPRESSION_REASONS[reason] ?? reason;

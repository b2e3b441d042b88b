import { DAYS_NAMES } from '#desk/web/named-days.ts';
import { urlOf, valuesIn } from '#desk/web/api-client.ts';
import { REPORT_FILE_PATH, type ReportQuery } from '#desk/endpoints/figures.ts';
import type { Option } from '#desk/web/ui/fields.tsx';
import { clockTime } from '#shared/days.ts';

const DEFAULT_PERIOD = '30d';
const SPANS: Readonly<Record<string, string>> = {
  ...DAYS_NAMES,
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
  '52w': 'Last 52 weeks',
};
const MONTHS = 12;

/** The server validates the period. */
export const readReportChoice = (query: URLSearchParams): ReportQuery => ({
  period: DEFAULT_PERIOD,
  ...valuesIn(query, ['period', 'source', 'campaign', 'variant']),
});

export const reportUrl = ({ period, ...only }: ReportQuery): string =>
  urlOf('/report', { period: period === DEFAULT_PERIOD ? null : period, ...only });

export const reportFileUrl = (choice: ReportQuery): string => urlOf(REPORT_FILE_PATH, choice);

/**
 * Returns days and weeks, then months, newest first.
 * @param chosen always included, even if it was typed into the URL
 */
export function offeredPeriods(now: number, timeZone: string, chosen: string): readonly Option[] {
  const spans = Object.entries(SPANS).map(([value, name]) => ({ value, name }));
  const today = new Date(clockTime(now, timeZone));
  const months = Array.from({ length: MONTHS }, (_, back) => {
    const first = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - back));
    const name = first.toLocaleDateString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });
    return { value: first.toISOString().slice(0, 7), name };
  });
  const all = [...spans, ...months];
  return all.some(({ value }) => value === chosen) ? all : [{ value: chosen }, ...all];
}

import { DAYS_NAMES } from '#desk/web/named-days.ts';
import { REPORT_FILE_PATH, type ReportAsked } from '#desk/endpoints/figures.ts';
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

const ONLY = ['source', 'campaign', 'variant'] as const;
type Only = (typeof ONLY)[number];

const onlyIn = (
  valueOf: (name: Only) => string | null | undefined,
): Readonly<Partial<Record<Only, string>>> =>
  Object.fromEntries(
    ONLY.map((name) => [name, valueOf(name)?.trim() ?? ''] as const).filter(([, value]) => value !== ''),
  );

/** The server validates the period. */
export const readReportChoice = (query: URLSearchParams): ReportAsked => ({
  period: query.get('period')?.trim() || DEFAULT_PERIOD,
  ...onlyIn((name) => query.get(name)),
});

export const reportQuery = ({ period, ...only }: ReportAsked): Readonly<Record<string, string>> => ({
  ...(period !== DEFAULT_PERIOD && { period }),
  ...onlyIn((name) => only[name]),
});

export const reportFileUrl = (asked: ReportAsked): string =>
  `${REPORT_FILE_PATH}?${String(new URLSearchParams({ period: asked.period, ...reportQuery(asked) }))}`;

export type OfferedPeriod = { readonly period: string; readonly label: string };

/**
 * Returns days and weeks, then months, newest first.
 * @param chosen always included, even if it was typed into the URL
 */
export function offeredPeriods(now: number, timeZone: string, chosen: string): readonly OfferedPeriod[] {
  const spans = Object.entries(SPANS).map(([period, label]) => ({ period, label }));
  const today = new Date(clockTime(now, timeZone));
  const months = Array.from({ length: MONTHS }, (_, back) => {
    const first = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - back));
    const label = first.toLocaleDateString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });
    return { period: first.toISOString().slice(0, 7), label };
  });
  const all = [...spans, ...months];
  return all.some(({ period }) => period === chosen) ? all : [{ period: chosen, label: chosen }, ...all];
}

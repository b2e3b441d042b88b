import { DAYS_NAMES } from '#desk/web/named-days.ts';
import { REPORT_FILE_PATH, type ReportAsked } from '#desk/endpoints/figures.ts';
import { areNamedDays, clockTime } from '#shared/days.ts';

const DEFAULT_PERIOD = '30d';
const SPANS = ['today', 'yesterday', 'this-week', 'last-week', '7d', '30d', '90d', '52w'] as const;
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
  const spans = SPANS.map((period) => ({ period, label: labelOf(period) }));
  const today = new Date(clockTime(now, timeZone));
  const months = Array.from({ length: MONTHS }, (_, back) => {
    const first = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - back));
    const period = first.toISOString().slice(0, 7);
    return { period, label: labelOf(period) };
  });
  const all = [...spans, ...months];
  return all.some(({ period }) => period === chosen)
    ? all
    : [{ period: chosen, label: labelOf(chosen) }, ...all];
}

function labelOf(period: string): string {
  if (areNamedDays(period)) return DAYS_NAMES[period];
  const [, count, unit] = /^(\d{1,4})([dw])$/.exec(period) ?? [];
  if (count !== undefined) {
    const noun = unit === 'w' ? 'week' : 'day';
    return Number(count) === 1 ? `Last ${noun}` : `Last ${Number(count)} ${noun}s`;
  }
  const month = Date.parse(`${period}-01T00:00:00Z`);
  if (!/^\d{4}-\d{2}$/.test(period) || Number.isNaN(month)) return period;
  return new Date(month).toLocaleDateString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });
}

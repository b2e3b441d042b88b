// What the drawing of a section has to be explained with.
import type { Report } from '#desk/report/report.ts';
import { areCodesKnown, areViewsKnown } from '#desk/report/sentences.ts';
import type { Section } from '#desk/report/sections.ts';

export type Legend = {
  /** What the two colours of a bar are; null where it has one. */
  readonly bars: { readonly value: string; readonly rest: string } | null;
  /** What the figures behind each bar are; null where they explain themselves. */
  readonly behindEachBar: string | null;
};

const STACKED: ReadonlySet<Section['chart']> = new Set(['day', 'source', 'platform']);

export const legendOf = ({ chart }: Pick<Section, 'chart'>, { funnel }: Pick<Report, 'funnel'>): Legend => ({
  bars:
    STACKED.has(chart) && areCodesKnown(funnel)
      ? { value: 'New leads', rest: 'Asked, and entered no code' }
      : null,
  behindEachBar:
    chart === 'source' && areCodesKnown(funnel)
      ? 'new leads · how many of those who asked entered a code'
      : chart === 'funnel' && areViewsKnown(funnel)
        ? 'how many · their share of the step before'
        : null,
});

// The report: the figures of a period, and the few of the period before that they are compared with.
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { countLeads } from '#server/db/across/report-figures.ts';
import { gatherFigures, knownSince, type Figures, type FiguresOptions } from '#server/figures/figures.ts';
import { countAnswers, type AnswerCounts } from '#desk/report/answers.ts';
import { compareVariants, type Comparison } from '#desk/report/variants.ts';
import type { Period } from '#desk/report/period.ts';
import { isoTime } from '#server/platform/time.ts';
import type { OwnField } from '#shared/campaign-schema.ts';

/** Times are ISO 8601, in UTC. */
export type Report = {
  readonly title: string;
  readonly writtenAt: string;
  readonly period: { readonly name: string; readonly from: string; readonly to: string };
  readonly before: { readonly name: string; readonly from: string; readonly to: string } & Pick<
    Figures,
    'leads' | 'funnel' | 'timeToEnter'
  >;
  /** By the answers to each question with choices; not there when the campaign asks none. */
  readonly byAnswer?: readonly AnswerCounts[];
  /** Not there when the campaign has one page. */
  readonly byVariant?: Comparison;
} & Figures;

/**
 * Counts a period and the one before.
 * @param options onProgress: called with the number of people counted so far. May throw to stop the count
 */
export async function gatherReport(
  database: Pick<OpenDatabase, 'db' | 'engine'>,
  period: Period,
  {
    title,
    fields,
    variants,
    onProgress,
    ...options
  }: Pick<FiguresOptions, 'retention' | 'now' | 'platformsOf'> & {
    readonly title: string;
    /** The campaign's own questions. */
    readonly fields: readonly OwnField[];
    /** The pages that are compared, the campaign's own first. */
    readonly variants: Parameters<typeof compareVariants>[2];
    readonly onProgress: (people: number) => void;
  },
): Promise<Report> {
  let counted = 0;
  const onCounted = (people: number) => onProgress((counted += people));
  const { from, to, before } = period;
  const since = knownSince(options.retention, options.now);
  const figures = await gatherFigures(database, period, { ...options, withViews: true, onCounted });
  const byAnswer = await countAnswers(database, period, { fields, onCounted: () => onProgress(counted) });
  const byVariant = await compareVariants(database, to, variants, () => onProgress(counted));
  // A part of the period before would be compared with the whole of this one.
  const { leads, funnel, timeToEnter } =
    since.codes <= before.from
      ? await gatherFigures(database, before, { ...options, withViews: false, platformsOf: null, onCounted })
      : { leads: await countLeads(database.db, before), funnel: null, timeToEnter: null };
  return {
    title,
    writtenAt: isoTime(options.now),
    period: { name: period.name, from: isoTime(from), to: isoTime(to) },
    ...figures,
    ...(byAnswer.length > 0 && { byAnswer }),
    ...(byVariant !== null && { byVariant }),
    before: {
      name: period.beforeName,
      from: isoTime(before.from),
      to: isoTime(before.to),
      leads,
      funnel,
      timeToEnter: since.mail > before.from ? null : timeToEnter,
    },
  };
}

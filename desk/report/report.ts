import type { Db } from '#server/db/engine/connect.ts';
import { countLeads, leadGroups, type Span } from '#server/db/queries/report-figures.ts';
import {
  gatherFigures,
  knownSince,
  type Figures,
  type FiguresOptions,
  type Selection,
} from '#server/stats/stats.ts';
import { countAnswers, type AnswerCounts } from '#desk/report/answers.ts';
import { compareVariants, type Comparison } from '#desk/report/variants.ts';
import type { Period } from '#desk/report/period.ts';
import { isFrom } from '#server/attribution/attribution.ts';
import { isoTime } from '#server/platform/time.ts';
import type { OwnField } from '#shared/campaign-schema.ts';

/** Times are ISO 8601 in UTC. */
export type Report = {
  readonly title: string;
  readonly writtenAt: string;
  /** Time zone of the days. */
  readonly timeZone: string;
  readonly period: { readonly name: string; readonly from: string; readonly to: string };
  readonly before: { readonly name: string; readonly from: string; readonly to: string } & Pick<
    Figures,
    'leads' | 'funnel' | 'timeToEnter'
  >;
  /** Absent without multiple-choice questions. */
  readonly byAnswer?: readonly AnswerCounts[];
  /** Absent without variants. */
  readonly byVariant?: Comparison;
  readonly only?: Selection;
} & Figures;

export async function gatherReport(
  db: Db,
  period: Period,
  {
    title,
    fields,
    variants,
    only,
    onProgress,
    ...options
  }: Pick<FiguresOptions, 'retention' | 'now' | 'timeZone' | 'platformsOf'> & {
    readonly title: string;
    readonly fields: readonly OwnField[];
    readonly variants: Parameters<typeof compareVariants>[2];
    readonly only?: Selection | undefined;
    readonly onProgress: (people: number) => void;
  },
): Promise<Report> {
  let counted = 0;
  const onCounted = (people: number) => onProgress((counted += people));
  const { timeZone } = options;
  const { from, to, before } = period;
  const since = knownSince(options.retention, options.now, timeZone);
  const figures = await gatherFigures(db, period, { ...options, only, withViews: true, onCounted });
  const byAnswer = await countAnswers(db, period, {
    fields,
    only,
    onCounted: () => onProgress(counted),
  });
  // Views per variant are stored without their source.
  const byVariant =
    only === undefined && variants.length > 1
      ? await compareVariants(db, { to, timeZone }, variants, () => onProgress(counted))
      : undefined;
  // A partial previous period cannot be compared with a whole one.
  const { leads, funnel, timeToEnter } =
    since.codes <= before.from
      ? await gatherFigures(db, before, {
          ...options,
          only,
          withViews: false,
          platformsOf: null,
          onCounted,
        })
      : {
          leads: await countLeadsFrom(db, before, { only, timeZone }),
          funnel: null,
          timeToEnter: null,
        };
  return {
    title,
    writtenAt: isoTime(options.now),
    timeZone,
    ...(only !== undefined && { only }),
    period: { name: period.name, from: isoTime(from), to: isoTime(to) },
    ...figures,
    ...(byAnswer.length > 0 && { byAnswer }),
    ...(byVariant !== undefined && { byVariant }),
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

async function countLeadsFrom(
  db: Db,
  span: Span,
  { only, timeZone }: { readonly only: Selection | undefined; readonly timeZone: string },
): Promise<number> {
  if (only === undefined) return countLeads(db, span);
  let leads = 0;
  for await (const groups of leadGroups(db, { ...span, variant: only.variant, timeZone }))
    for (const { attribution, people } of groups) if (isFrom(attribution, only)) leads += people;
  return leads;
}

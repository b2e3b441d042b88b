import { CommandFailure } from '#desk/command-failure.ts';
import { explainUnknownOrigin } from '#desk/export/known-sources.ts';
import { countAnswers, type AnswerCounts } from '#desk/report/answers.ts';
import type { Period } from '#desk/report/period.ts';
import { compareVariants, type Comparison } from '#desk/report/variants.ts';
import { isFrom, shownSource, type Origin } from '#server/attribution/attribution.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { countLeads, leadGroups, variantsOfLeads, type Span } from '#server/db/queries/report-figures.ts';
import { byNearness } from '#server/platform/mistakes.ts';
import { isoTime } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';
import { createPlatformLookup } from '#server/stats/mail-platforms.ts';
import { gatherFigures, knownSince, type Figures, type Selection } from '#server/stats/stats.ts';

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

export const PERIODS =
  'The period is invalid. Use days or weeks up to today (7d, 4w, 30d), today, yesterday, this-week, last-week, or a month that has already begun (2026-10).';

/** @returns the report, and either a sentence about skipped mail domains or null */
export async function reportOn(
  { database, campaign, config, clock }: Pick<Service, 'database' | 'campaign' | 'config' | 'clock'>,
  period: Period,
  {
    selection,
    dnsServers,
    signal,
    onProgress = () => {},
  }: {
    readonly selection: Selection;
    readonly dnsServers: readonly string[] | undefined;
    readonly signal: AbortSignal;
    readonly onProgress?: (people: number) => void;
  },
): Promise<{ readonly report: Report; readonly note: string | null }> {
  const only = await resolveSelection({ database, campaign }, selection);
  const now = clock();
  const { db } = database;
  const { retention, timeZone } = config;
  const { from, to, before } = period;
  const { platformsOf, skippedNote } = createPlatformLookup(database, { dnsServers, now, signal });
  let counted = 0;
  const onCounted = (people: number) => {
    signal.throwIfAborted();
    onProgress((counted += people));
  };
  const options = { retention, now, timeZone, only, onCounted };
  const figures = await gatherFigures(db, period, { ...options, withViews: true, platformsOf });
  const { fields } = campaign.form;
  const byAnswer = await countAnswers(db, period, { fields, only, onCounted: () => onCounted(0) });
  const variants = campaign.variants.map(({ name, consent }) => ({ name, consentVersion: consent.version }));
  // Views per variant are stored without their source.
  const byVariant =
    only === undefined && variants.length > 1
      ? await compareVariants(db, { to, timeZone }, variants, () => onCounted(0))
      : undefined;
  const since = knownSince(retention, now, timeZone);
  // A partial previous period cannot be compared with a whole one.
  const { leads, funnel, timeToEnter } =
    since.codes <= before.from
      ? await gatherFigures(db, before, { ...options, withViews: false, platformsOf: null })
      : { leads: await countLeadsFrom(db, before, { only, timeZone }), funnel: null, timeToEnter: null };
  signal.throwIfAborted();
  const report = {
    title: campaign.site.title,
    writtenAt: isoTime(now),
    timeZone,
    ...(only !== undefined && {
      only: { ...only, ...(only.campaign !== undefined && { campaign: shownSource(only.campaign) }) },
    }),
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
  return { report, note: skippedNote() };
}

async function resolveSelection(
  { database, campaign }: Pick<Service, 'database' | 'campaign'>,
  wanted: Selection,
): Promise<Selection | undefined> {
  const origin = await resolveOrigin(database.db, wanted);
  const { variant } = wanted;
  if (variant === undefined) return origin;
  const existing = campaign.variants.map(({ name }) => name);
  if (existing.includes(variant)) return { ...origin, variant };
  // Leads keep their variant after a comparison ends.
  const known = new Set([...existing, ...(await variantsOfLeads(database.db))]);
  if (!known.has(variant))
    throw new CommandFailure(
      known.size === 0
        ? `This campaign has only one page, and no lead came from a variant “${variant}”.`
        : `There is no variant “${variant}”. Known variants: ${byNearness(variant, known).join(', ')}.`,
      2,
    );
  return { ...origin, variant };
}

async function resolveOrigin(db: Db, wanted: Origin): Promise<Origin | undefined> {
  for (const kind of ['source', 'campaign'] as const) {
    const name = wanted[kind];
    const unknownOrigin = name === undefined ? null : await explainUnknownOrigin(db, kind, name);
    if (unknownOrigin !== null) throw new CommandFailure(unknownOrigin, 2);
  }
  const { source, campaign } = wanted;
  if (source === undefined && campaign === undefined) return undefined;
  return {
    ...(source !== undefined && { source: shownSource(source) }),
    ...(campaign !== undefined && { campaign }),
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

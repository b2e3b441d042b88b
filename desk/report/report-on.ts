import { CommandFailure } from '#desk/command-failure.ts';
import { complainOfOrigin } from '#desk/export/known-sources.ts';
import type { Period } from '#desk/report/period.ts';
import { gatherReport, type Report } from '#desk/report/report.ts';
import { shownSource, type Origin } from '#server/attribution/attribution.ts';
import { variantsOfLeads } from '#server/db/queries/report-figures.ts';
import type { Db } from '#server/db/engine/connect.ts';
import type { Selection } from '#server/stats/stats.ts';
import { byNearness } from '#server/platform/mistakes.ts';
import { createPlatformLookup } from '#server/stats/mail-platforms.ts';
import type { Service } from '#server/startup/service.ts';

export const PERIODS =
  'The period is invalid. Use days or weeks up to today (7d, 4w, 30d), today, yesterday, this-week, last-week, or a month that has already begun (2026-10).';

/** @returns the report, and either a sentence about skipped mail domains or null */
export async function reportOn(
  { database, campaign, config, clock }: Pick<Service, 'database' | 'campaign' | 'config' | 'clock'>,
  period: Period,
  {
    wanted,
    dnsServers,
    signal,
    onProgress = () => {},
  }: {
    readonly wanted: Selection;
    readonly dnsServers: readonly string[] | undefined;
    readonly signal: AbortSignal;
    readonly onProgress?: (people: number) => void;
  },
): Promise<{ readonly report: Report; readonly note: string | null }> {
  const only = await readOnly({ database, campaign }, wanted);
  const now = clock();
  const lookup = createPlatformLookup(database, { dnsServers, now, signal });
  const report = await gatherReport(database.db, period, {
    title: campaign.site.title,
    fields: campaign.form.fields,
    variants: campaign.variants.map(({ name, consent }) => ({ name, consentVersion: consent.version })),
    retention: config.retention,
    timeZone: config.timeZone,
    now,
    only,
    platformsOf: lookup.platformsOf,
    onProgress: (people) => {
      signal.throwIfAborted();
      onProgress(people);
    },
  });
  signal.throwIfAborted();
  return { report, note: lookup.skippedNote() };
}

async function readOnly(
  { database, campaign }: Pick<Service, 'database' | 'campaign'>,
  wanted: Selection,
): Promise<Selection | undefined> {
  const origin = await readOrigin(database.db, wanted);
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

async function readOrigin(db: Db, wanted: Origin): Promise<Origin | undefined> {
  for (const kind of ['source', 'campaign'] as const) {
    const name = wanted[kind];
    const complaint = name === undefined ? null : await complainOfOrigin(db, kind, name);
    if (complaint !== null) throw new CommandFailure(complaint, 2);
  }
  const { source, campaign } = wanted;
  if (source === undefined && campaign === undefined) return undefined;
  return {
    ...(source !== undefined && { source: shownSource(source) }),
    ...(campaign !== undefined && { campaign: shownSource(campaign) }),
  };
}

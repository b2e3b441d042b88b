import type { Lost } from '#desk/endpoints/people.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { searchLostLeads, lostLeadPages, type LostLead } from '#server/db/queries/lost-leads.ts';
import type { Span } from '#server/db/queries/report-figures.ts';
import { readAttribution, sourceOf } from '#server/attribution/attribution.ts';
import type { PlatformLookup } from '#server/stats/mail-platforms.ts';
import { STATUS_LABELS } from '#desk/report/sentences.ts';
import { formatMinute } from '#desk/shown-time.ts';
import { domainOf } from '#server/platform/text.ts';
import { DAY_MS, isoTime } from '#server/platform/time.ts';
import type { Config } from '#server/settings/settings.ts';
import { readAnswers } from '#shared/own-fields.ts';

/** As JSON of the command, which has no use for the form's ID. */
export type LostLeadRow = Omit<Lost, 'id'>;

/** @returns a sentence if the span begins before the oldest requests that are kept */
export function deletedNote(
  { from }: Span,
  { retention: { unverifiedDays }, timeZone }: Pick<Config, 'retention' | 'timeZone'>,
  now: number,
): string | null {
  const keptFrom = now - unverifiedDays * DAY_MS;
  return unverifiedDays === 0 || from >= keptFrom
    ? null
    : `Requests from before ${formatMinute(isoTime(keptFrom), timeZone)} are no longer stored (RETENTION_DAYS).`;
}

/** @returns pages, possibly empty, each with the number of people whose code is still valid */
export async function* selectLost(
  { db }: Pick<OpenDatabase, 'db'>,
  span: Span,
  { now, platformsOf }: { now: number; platformsOf: PlatformLookup['platformsOf'] },
): AsyncGenerator<{ readonly lost: readonly LostLeadRow[]; readonly open: number }, void, void> {
  for await (const page of lostLeadPages(db, span, now)) {
    const { lost, open } = await withPlatforms(page, platformsOf);
    yield { lost: lost.map(({ id: _id, ...row }) => row), open };
  }
}

/**
 * Reads one part, newest first.
 * @param options from: the previous `next`, or null; most: people to read, valid codes included
 */
export async function findLostLeads(
  { db }: Pick<OpenDatabase, 'db'>,
  span: Span,
  {
    platformsOf,
    ...options
  }: Parameters<typeof searchLostLeads>[2] & { readonly platformsOf: PlatformLookup['platformsOf'] },
): Promise<{ readonly lost: readonly Lost[]; readonly open: number; readonly next: string | null }> {
  const { found, next } = await searchLostLeads(db, span, options);
  return { ...(await withPlatforms(found, platformsOf)), next };
}

async function withPlatforms(
  page: readonly LostLead[],
  platformsOf: PlatformLookup['platformsOf'],
): Promise<{ readonly lost: readonly Lost[]; readonly open: number }> {
  const lost = page.filter(({ status }) => status !== 'open');
  const domains = new Map<string, number>();
  for (const { email } of lost) domains.set(domainOf(email), (domains.get(domainOf(email)) ?? 0) + 1);
  const platforms = await platformsOf(domains);
  return {
    lost: lost.map((lead) => toLost(lead, platforms.get(domainOf(lead.email)) ?? 'other')),
    open: page.length - lost.length,
  };
}

const toLost = ({ asked_at, status, attribution, ...lead }: LostLead, platform: string): Lost => ({
  id: lead.submission_id,
  asked_at: isoTime(asked_at),
  email: lead.email,
  name: lead.name ?? '',
  company: lead.company ?? '',
  ...(lead.answers !== null && { answers: readAnswers(lead.answers) }),
  source: attribution === null ? '' : sourceOf(readAttribution(attribution)),
  platform,
  reason: status,
  why: STATUS_LABELS[status],
  reply: lead.reply,
  error_class: lead.error_class,
  codes: lead.codes,
  wrong_attempts: lead.wrong_attempts,
});

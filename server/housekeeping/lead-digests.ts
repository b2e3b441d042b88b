// Mails the operator the new leads and figures of a day or a week. The mail's ID is derived from its period, so several
// processes queue it only once.
import type { Config } from '#server/settings/settings.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { countLeads } from '#server/db/queries/report-figures.ts';
import { wasQueued } from '#server/db/tables/outbox.ts';
import { digestId, queueDigest, type PeriodFigures } from '#server/mail/templates/daily-weekly-digest.ts';
import { countOf, gatherFigures, type Figures } from '#server/stats/stats.ts';
import { DAY_MS } from '#server/platform/time.ts';
import { dayOf, momentAt, mondayOf, startOfDay } from '#shared/days.ts';

export type DigestQueuerParts = {
  readonly database: OpenDatabase;
  readonly config: Config;
  readonly clock: () => number;
  readonly shouldStop?: () => boolean;
};

/**
 * Returns a function that queues the digest if it is due. Call it about once a minute, never concurrently. It throws database
 * errors.
 */
export function createDigestQueuer({
  database,
  config,
  clock,
  shouldStop = () => false,
}: DigestQueuerParts): () => Promise<void> {
  const { newLeadEmail, newLeadEmailAtMs, operatorEmails, retention, timeZone } = config;
  let lastPeriodFrom = -1;

  const queuePeriod = async (days: 1 | 7): Promise<void> => {
    const now = clock();
    const today = dayOf(now, timeZone);
    /** The day after the period. */
    const end = days === 1 ? today : mondayOf(today);
    const period = { day: end - days, days };
    const from = startOfDay(end - days, timeZone);
    const span = { from, to: startOfDay(end, timeZone) };
    const dueAt = momentAt(end * DAY_MS + newLeadEmailAtMs, timeZone);
    if (lastPeriodFrom === from || now < dueAt) return;
    // Housekeeping, which goes by the ID and thus by the day, may have deleted the row that shows that this period was mailed.
    if (retention.mailDays > 0 && period.day * DAY_MS < now - retention.mailDays * DAY_MS) return;
    const recipients: string[] = [];
    for (const recipient of operatorEmails)
      if (!(await wasQueued(database.db, digestId(period, recipient)))) recipients.push(recipient);
    if (recipients.length > 0 && (await countLeads(database.db, span)) > 0) {
      const figures = await gatherFigures(database.db, span, {
        retention,
        now,
        timeZone,
        withViews: true,
        platformsOf: null,
        onCounted: () => {
          if (shouldStop()) throw new Error('The process is stopping.');
        },
      });
      const before = await countLeads(database.db, { from: startOfDay(end - 2 * days, timeZone), to: from });
      await queueDigest(database.db, {
        recipients,
        period,
        figures: { ...span, days, before, ...stepsAndSources(figures) },
        now,
      });
    }
    lastPeriodFrom = from;
  };

  return async () => {
    if (newLeadEmail === 'daily') await queuePeriod(1);
    if (newLeadEmail === 'weekly') await queuePeriod(7);
  };
}

/** Leaves out views if those of earlier days are unknown, because the mail has no note about it. */
const stepsAndSources = ({
  funnel,
  viewsFrom,
  bySource,
}: Figures): Pick<PeriodFigures, 'steps' | 'sources'> => ({
  steps: (funnel ?? [])
    .filter((step) => viewsFrom === null || 'people' in step)
    .map((step) => ({ step: step.step, count: countOf(step) })),
  sources: bySource
    .filter(({ leads }) => leads > 0)
    .map(({ name, leads }) => ({ source: name, leads }))
    .toSorted((a, b) => b.leads - a.leads),
});

// Mails the operator the numbers of a day or a week. The mail's ID is derived from its period, so several processes queue it
// only once.
import type { Config } from '#server/settings/settings.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { countLeads } from '#server/db/queries/report-figures.ts';
import { wasQueued } from '#server/db/tables/outbox.ts';
import { digestId, queueDigest, type PeriodFigures } from '#server/mail/templates/daily-weekly-digest.ts';
import { countOf, gatherFigures, type Figures } from '#server/stats/stats.ts';
import { DAY_MS } from '#server/platform/time.ts';
import { dayOf, momentAt, mondayOf, startOfDay } from '#shared/days.ts';

export type NewLeadNewsParts = {
  readonly database: OpenDatabase;
  readonly config: Config;
  readonly clock: () => number;
  readonly shouldStop?: () => boolean;
};

/**
 * Returns a function that runs one round. Call it about once a minute, never concurrently.
 * @throws the database error
 */
export function createNewLeadNews({
  database,
  config,
  clock,
  shouldStop = () => false,
}: NewLeadNewsParts): () => Promise<void> {
  const { newLeadEmail, newLeadEmailAtMs, operatorEmails: all, retention, timeZone } = config;
  let settled = -1;

  const queuePeriod = async (days: 1 | 7): Promise<void> => {
    const now = clock();
    const today = dayOf(now, timeZone);
    /** The day after the last one. */
    const end = days === 1 ? today : mondayOf(today);
    const named = { day: end - days, days };
    const from = startOfDay(end - days, timeZone);
    const period = { from, to: startOfDay(end, timeZone) };
    const dueAt = momentAt(end * DAY_MS + newLeadEmailAtMs, timeZone);
    if (settled === from || now < dueAt) return;
    // Housekeeping may have deleted the row that proves that this period was mailed. It goes by the row's ID (digestId).
    if (retention.mailDays > 0 && named.day * DAY_MS < now - retention.mailDays * DAY_MS) return;
    const recipients: string[] = [];
    for (const recipient of all)
      if (!(await wasQueued(database.db, digestId(named, recipient)))) recipients.push(recipient);
    if (recipients.length > 0 && (await countLeads(database.db, period)) > 0) {
      const figures = await gatherFigures(database.db, period, {
        retention,
        now,
        timeZone,
        withViews: true,
        platformsOf: null,
        onCounted: () => {
          if (shouldStop()) throw new Error('This process ends.');
        },
      });
      const before = await countLeads(database.db, { from: startOfDay(end - 2 * days, timeZone), to: from });
      await queueDigest(database.db, {
        recipients,
        period: named,
        figures: { ...period, days, before, ...stepsAndSources(figures) },
        now,
      });
    }
    settled = from;
  };

  return async () => {
    if (newLeadEmail === 'daily') await queuePeriod(1);
    if (newLeadEmail === 'weekly') await queuePeriod(7);
  };
}

const stepsAndSources = ({ funnel, bySource }: Figures): Pick<PeriodFigures, 'steps' | 'sources'> => ({
  steps: (funnel ?? []).map((step) => ({ step: step.step, count: countOf(step) })),
  sources: bySource
    .filter(({ leads }) => leads > 0)
    .map(({ name, leads }) => ({ source: name, leads }))
    .toSorted((a, b) => b.leads - a.leads),
});

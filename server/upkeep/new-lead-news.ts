// Tells the operator of what is over: a day, with its figures, or an hour that had more leads than were told one by one. Each is
// a mail with an id of its own, so that it is queued once, whichever of several processes comes first.
import type { Config } from '#server/settings/settings.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { countNewLeads } from '#server/db/across/new-leads.ts';
import { countLeads } from '#server/db/across/report-figures.ts';
import { wasQueued } from '#server/db/tables/outbox.ts';
import type { DayFigures } from '#server/mail/letters/day-figures.ts';
import { digestId, queueDigest } from '#server/mail/letters/digest.ts';
import { queueFullHours } from '#server/mail/letters/new-lead.ts';
import { countOf, gatherFigures, type Figures } from '#server/figures/figures.ts';
import { yesterday } from '#server/figures/period.ts';

export type NewLeadNewsParts = {
  readonly database: OpenDatabase;
  readonly config: Pick<Config, 'newLeadEmail' | 'newLeadEmailAtMs' | 'operatorEmail' | 'retention'>;
  readonly clock: () => number;
  /** Asked while figures are counted: a process that ends does not wait for them. */
  readonly shouldStop?: () => boolean;
};

/**
 * Makes what one process does about it, to be called every minute or so; a call while another one is at it does nothing.
 * Throws what the database said.
 */
export function createNewLeadNews({
  database,
  config,
  clock,
  shouldStop = () => false,
}: NewLeadNewsParts): () => Promise<void> {
  const { newLeadEmail, newLeadEmailAtMs, operatorEmail: recipient, retention } = config;
  let isRunning = false;
  /** The day that is told of, or has nothing to tell. */
  let toldDay = -1;

  const tellOfDay = async (to: string): Promise<void> => {
    const now = clock();
    const day = yesterday(now);
    if (toldDay === day.from || now < day.to + newLeadEmailAtMs) return;
    const isOver =
      (await wasQueued(database.db, digestId(day.from))) || (await countNewLeads(database.db, day)) === 0;
    if (!isOver) {
      const figures = await gatherFigures(database, day, {
        retention,
        now,
        withViews: true,
        platformsOf: null,
        onCounted: () => {
          if (shouldStop()) throw new Error('This process ends.');
        },
      });
      const before = await countLeads(database.db, day.before);
      await queueDigest(database.db, { recipient: to, figures: dayFigures(day.from, before, figures), now });
    }
    toldDay = day.from;
  };

  return async () => {
    if (isRunning || recipient === null) return;
    isRunning = true;
    try {
      if (newLeadEmail === 'daily') await tellOfDay(recipient);
      if (newLeadEmail === 'each') await queueFullHours(database.db, { recipient, now: clock() });
    } finally {
      isRunning = false;
    }
  };
}

const dayFigures = (from: number, before: number, { funnel, bySource }: Figures): DayFigures => ({
  from,
  before,
  steps: (funnel ?? []).map((step) => ({ step: step.step, count: countOf(step) })),
  sources: bySource
    .filter(({ leads }) => leads > 0)
    .map(({ name, leads }) => ({ source: name, leads }))
    .toSorted((a, b) => b.leads - a.leads),
});

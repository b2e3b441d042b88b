// Tells the operator of what is over: a day, with its figures, or an hour that had more leads than were told one by one. Each is
// a mail with an id of its own, so that it is queued once, whichever of several processes comes first.
import type { Config } from '#server/settings/settings.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { countNewLeads } from '#server/db/across/new-leads.ts';
import { wasQueued } from '#server/db/tables/outbox.ts';
import type { DayFigures } from '#server/mail/letters/day-figures.ts';
import { digestId, queueDigest } from '#server/mail/letters/digest-mail.ts';
import { queueFullHours } from '#server/mail/letters/new-lead-mail.ts';
import { gatherReport, type Report } from '#server/figures/figures.ts';
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
      const report = await gatherReport(database, day, {
        // It is said by the words of the mail.
        title: '',
        retention,
        now,
        // Not asked: DNS takes its time, and the mail does not say it.
        platformsOf: async () => new Map(),
        onProgress: () => {
          if (shouldStop()) throw new Error('This process ends.');
        },
      });
      await queueDigest(database.db, { recipient: to, figures: figuresOf(report), now });
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

const figuresOf = ({ period, before, funnel, bySource }: Report): DayFigures => ({
  from: Date.parse(period.from),
  before: before.leads,
  steps: (funnel ?? []).map((step) => ({
    step: step.step,
    count: 'people' in step ? step.people : step.times,
  })),
  sources: bySource
    .filter(({ leads }) => leads > 0)
    .map(({ name, leads }) => ({ source: name, leads }))
    .toSorted((a, b) => b.leads - a.leads),
});

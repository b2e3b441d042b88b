// Mails the operator when a period is over: a day, with its figures, or an hour that had more leads than were mailed one by one.
// The id of each mail is made from its period, so that several processes queue it only once.
import type { Config } from '#server/settings/settings.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { countNewLeads } from '#server/db/across/new-leads.ts';
import { countLeads, type Span } from '#server/db/across/report-figures.ts';
import { wasQueued } from '#server/db/tables/outbox.ts';
import { digestId, queueDigest, type DayFigures } from '#server/mail/letters/digest-mail.ts';
import { queueFullHours } from '#server/mail/letters/new-lead-mail.ts';
import { countOf, gatherFigures, type Figures } from '#server/figures/figures.ts';
import { DAY_MS } from '#server/platform/time.ts';

export type NewLeadNewsParts = {
  readonly database: OpenDatabase;
  readonly config: Pick<Config, 'newLeadEmail' | 'newLeadEmailAtMs' | 'operatorEmail' | 'retention'>;
  readonly clock: () => number;
  /** Asked while figures are counted, so that a process that ends does not wait for them. */
  readonly shouldStop?: () => boolean;
};

/** Makes one round of it, to be called every minute or so. It throws what the database threw; one at a time. */
export function createNewLeadNews({
  database,
  config,
  clock,
  shouldStop = () => false,
}: NewLeadNewsParts): () => Promise<void> {
  const { newLeadEmail, newLeadEmailAtMs, operatorEmail: recipient, retention } = config;
  /** The last day that was mailed, or had no lead. Milliseconds since 1970. */
  let settledDay = -1;

  const queueDay = async (to: string): Promise<void> => {
    const now = clock();
    const day = yesterday(now);
    if (settledDay === day.from || now < day.to + newLeadEmailAtMs) return;
    const isSettled =
      (await wasQueued(database.db, digestId(day.from))) || (await countNewLeads(database.db, day)) === 0;
    if (!isSettled) {
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
    settledDay = day.from;
  };

  return async () => {
    if (recipient === null) return;
    if (newLeadEmail === 'daily') await queueDay(recipient);
    if (newLeadEmail === 'each') await queueFullHours(database.db, { recipient, now: clock() });
  };
}

/** The last whole day, and the one before it. Days are in UTC. */
function yesterday(now: number): Span & { readonly before: Span } {
  const to = now - (now % DAY_MS);
  const from = to - DAY_MS;
  return { from, to, before: { from: from - DAY_MS, to: from } };
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

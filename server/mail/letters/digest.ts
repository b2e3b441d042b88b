// The mail that tells the operator about a day: its figures, and who became a lead. Its row holds the figures, which are counted
// once, and says which day they are of; who the leads are is looked up when the mail is made.
import type { Db } from '#server/db/engine/connect.ts';
import { queueOnce } from '#server/db/tables/outbox.ts';
import { DayFigures } from '#server/mail/letters/day-figures.ts';
import { composeDigestEmail } from '#server/mail/letters/digest-email.ts';
import type { Kind } from '#server/mail/letters/letter-kind.ts';
import { idOfPeriod, namedLeads, NEWS_FOR_MS } from '#server/mail/letters/new-lead.ts';
import { DAY_MS } from '#server/platform/time.ts';

/** The id of the mail about a day. @param from when it began */
export const digestId = (from: number): string => idOfPeriod('day', from);

/** Queues the mail about a day, once: of several processes that do, one does. */
export async function queueDigest(
  db: Db,
  { recipient, figures, now }: { recipient: string; figures: DayFigures; now: number },
): Promise<void> {
  await queueOnce(db, { id: digestId(figures.from), recipient, now, kind: 'digest', payload: figures });
}

export const digestKind: Kind = {
  mayWaitMs: () => NEWS_FOR_MS,
  respectsSuppression: false,

  compose: async ({ db, newLeadEmail: words, title, language, publicUrl }, row) => {
    const figures = DayFigures.parse(JSON.parse(row.payload));
    const named = await namedLeads(db, { from: figures.from, to: figures.from + DAY_MS });
    if (named.count === 0) return null;
    const { hostname: host } = new URL(publicUrl);
    const parts = composeDigestEmail(words, { title, language, host, figures, ...named });
    return { way: 'mail', mail: { id: row.id, to: row.recipient, ...parts } };
  },
};

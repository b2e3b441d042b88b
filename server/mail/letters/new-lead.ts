// The mail that tells the operator of new leads: of each at once, and of all of an hour together when it had many. A row names
// the lead, or the hour; who that is, is looked up when the mail is made, so that nobody is told of who was erased meanwhile.
import { v7 as uuid } from 'uuid';
import * as z from 'zod/mini';

import type { Db } from '#server/db/engine/connect.ts';
import {
  countNewLeads,
  findNewLead,
  hasMoreNewLeads,
  newLeadsOf,
  type NewLead,
} from '#server/db/across/new-leads.ts';
import { queueMessage, queueOnce, wasQueued } from '#server/db/tables/outbox.ts';
import type { Kind } from '#server/mail/letters/letter-kind.ts';
import { composeNewLeadEmail, composeNewLeadsEmail } from '#server/mail/letters/new-lead-email.ts';
import { DAY_MS, HOUR_MS } from '#server/platform/time.ts';

/** So many leads of an hour are told one by one; a storm of them must not bury the operator. */
const MOST_ONE_BY_ONE = 10;
/** So many are named in one mail, which must stay small. */
const MOST_NAMED = 50;
/** A lead of last week is in the desk. */
export const NEWS_FOR_MS = DAY_MS;
/** What was verified before an hour ended is stored by then, and clocks differ. */
const GRACE_MS = 60_000;
/** Hours that ended while no process ran are told of, unless that is long ago. */
const HOURS_BACK = 3;

const OfLead = z.object({ leadId: z.string() });
const OfHour = z.object({ from: z.number() });

const hourOf = (now: number) => now - (now % HOUR_MS);

/** Queues the mail about somebody who became a lead a moment ago, unless this hour has had enough of them. */
export async function queueNewLeadMail(
  tx: Db,
  { id, leadId, recipient, now }: { id: string; leadId: string; recipient: string; now: number },
): Promise<void> {
  const hour = hourOf(now);
  if (await hasMoreNewLeads(tx, { from: hour, to: hour + HOUR_MS }, MOST_ONE_BY_ONE)) return;
  await queueMessage(tx, { id, recipient, now, kind: 'new-lead', payload: { leadId } });
}

/**
 * Queues the mail about each hour that is over and had more leads than are told one by one. Each is queued once, however many
 * processes look, and however often.
 */
export async function queueFullHours(
  db: Db,
  { recipient, now }: { recipient: string; now: number },
): Promise<void> {
  const end = hourOf(now - GRACE_MS);
  for (let from = end - HOURS_BACK * HOUR_MS; from < end; from += HOUR_MS) {
    const id = idOfPeriod('hour', from);
    if (await wasQueued(db, id)) continue;
    if (!(await hasMoreNewLeads(db, { from, to: from + HOUR_MS }, MOST_ONE_BY_ONE))) continue;
    await queueOnce(db, { id, recipient, now, kind: 'new-leads', payload: { from } });
  }
}

/** The one id that the mail about a period has: whoever queues it a second time finds it there. */
export const idOfPeriod = (kind: 'hour' | 'day', from: number): string =>
  uuid({ msecs: from, seq: 0, random: new Uint8Array(16).fill(kind === 'hour' ? 1 : 2) });

export const newLeadKind: Kind = {
  mayWaitMs: () => NEWS_FOR_MS,
  respectsSuppression: false,

  compose: async ({ db, newLeadEmail: words, title, language, publicUrl }, row) => {
    const { leadId } = OfLead.parse(JSON.parse(row.payload));
    const lead = await findNewLead(db, leadId);
    if (lead === undefined) return null;
    const { hostname: host } = new URL(publicUrl);
    const parts = composeNewLeadEmail(words, { title, language, host, lead });
    return { way: 'mail', mail: { id: row.id, to: row.recipient, ...parts } };
  },
};

export const newLeadsKind: Kind = {
  mayWaitMs: () => NEWS_FOR_MS,
  respectsSuppression: false,

  compose: async ({ db, newLeadEmail: words, title, language, publicUrl }, row) => {
    const { from } = OfHour.parse(JSON.parse(row.payload));
    const span = { from, to: from + HOUR_MS };
    const named = await namedLeads(db, span);
    if (named.count === 0) return null;
    const { hostname: host } = new URL(publicUrl);
    const parts = composeNewLeadsEmail(words, { title, language, host, ...span, ...named });
    return { way: 'mail', mail: { id: row.id, to: row.recipient, ...parts } };
  },
};

/** The leads of a span that a mail names, and how many there are. */
export async function namedLeads(
  db: Db,
  span: { readonly from: number; readonly to: number },
): Promise<{ readonly leads: readonly NewLead[]; readonly count: number }> {
  return { leads: await newLeadsOf(db, span, MOST_NAMED), count: await countNewLeads(db, span) };
}

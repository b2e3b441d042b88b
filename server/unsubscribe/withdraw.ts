// Somebody takes their consent back: noted beside the lead, put on the list of who is not mailed, and sealed into the chain soon.
import { v7 as uuid } from 'uuid';

import { pseudonymsOf } from '#server/access/pseudonyms.ts';
import type { Secrets } from '#server/access/secrets.ts';
import { lockAddress } from '#server/db/challenges.ts';
import type { OpenDatabase } from '#server/db/connect.ts';
import { findHolder } from '#server/db/returned-mail.ts';
import type { WithdrawalWay } from '#server/db/schema.ts';
import { addressOfLead, noteWithdrawal, suppress } from '#server/db/suppressions.ts';
import { queueLeadEvent, type WebhookParts } from '#server/webhooks/events.ts';

type WithdrawalParts = {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly webhooks: WebhookParts;
};

/** What a complaint brings about that a mail provider reports. happenedAt and now: milliseconds since 1970 */
export const complaintsTo =
  (parts: WithdrawalParts) => (complaint: { leadId: string; happenedAt: number; now: number }) =>
    withdrawConsent(parts, { ...complaint, way: 'complaint', clientAddress: null, userAgent: null });

/**
 * Withdraws a lead's consent.
 * @param withdrawal way: how it came; note: what the operator adds; clientAddress and userAgent: of whoever asked, null when it was no visitor; happenedAt:
 *   for what others report, possibly late
 * @returns `withdrawn` the first time, `already` when it was, `outdated` when the lead agreed again since it happened, `unknown`
 *   when there is no such lead (any more)
 */
export async function withdrawConsent(
  { database, secrets, webhooks }: WithdrawalParts,
  {
    leadId,
    way,
    note = null,
    clientAddress,
    userAgent,
    happenedAt,
    now,
  }: {
    leadId: string;
    way: WithdrawalWay;
    note?: string | null;
    clientAddress: string | null;
    userAgent: string | null;
    happenedAt?: number;
    now: number;
  },
): Promise<'withdrawn' | 'already' | 'outdated' | 'unknown'> {
  const outcome = await database.db.transaction().execute(async (tx) => {
    const seen = await addressOfLead(tx, leadId);
    if (seen === undefined) return 'unknown';
    // A code for this address, or its erasure, may be under way.
    await lockAddress(tx, database.engine, seen);
    const email = await addressOfLead(tx, leadId);
    if (email === undefined) return 'unknown';
    if (happenedAt !== undefined) {
      const holder = await findHolder(tx, email);
      if ((holder?.lastVerifiedAt ?? 0) > happenedAt) return 'outdated';
    }
    const keys = pseudonymsOf(secrets, email);
    const reason = way === 'complaint' ? 'complained' : 'unsubscribed';
    if (!(await suppress(tx, { keys, reason, email, note, now }))) return 'already';
    await noteWithdrawal(tx, {
      // The sealer asks the ids which withdrawals are new.
      id: uuid({ msecs: now }),
      lead_id: leadId,
      way,
      withdrawn_at: now,
      client_address: clientAddress,
      user_agent: userAgent,
    });
    await queueLeadEvent(tx, webhooks, { type: 'lead.unsubscribed', leadId, now });
    return 'withdrawn';
  });
  webhooks.wake();
  return outcome;
}

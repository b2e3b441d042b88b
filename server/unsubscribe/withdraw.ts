// Somebody takes their consent back: noted beside the lead, put on the list of who is not mailed, and sealed into the chain soon.
import { v7 as uuid } from 'uuid';

import { pseudonymsOf } from '#server/access/pseudonyms.ts';
import type { Secrets } from '#server/access/secrets.ts';
import { lockAddress } from '#server/db/challenges.ts';
import type { OpenDatabase } from '#server/db/connect.ts';
import type { WithdrawalWay } from '#server/db/schema.ts';
import { addressOfLead, noteWithdrawal, suppress } from '#server/db/suppressions.ts';
import { queueLeadEvent, type WebhookParts } from '#server/webhooks/events.ts';

/**
 * Withdraws a lead's consent.
 * @param withdrawal way: how it came; note: what the operator adds; clientAddress and userAgent: of whoever asked, null when it was no visitor
 * @returns `withdrawn` the first time, `already` when it was, `unknown` when there is no such lead (any more)
 */
export async function withdrawConsent(
  {
    database,
    secrets,
    webhooks,
  }: {
    readonly database: OpenDatabase;
    readonly secrets: Secrets;
    readonly webhooks: WebhookParts;
  },
  {
    leadId,
    way,
    note = null,
    clientAddress,
    userAgent,
    now,
  }: {
    leadId: string;
    way: WithdrawalWay;
    note?: string | null;
    clientAddress: string | null;
    userAgent: string | null;
    now: number;
  },
): Promise<'withdrawn' | 'already' | 'unknown'> {
  const outcome = await database.db.transaction().execute(async (tx) => {
    const seen = await addressOfLead(tx, leadId);
    if (seen === undefined) return 'unknown';
    // A code for this address, or its erasure, may be under way.
    await lockAddress(tx, database.engine, seen);
    const email = await addressOfLead(tx, leadId);
    if (email === undefined) return 'unknown';
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

// Marks the lead and suppresses its e-mail address; the chain seals the withdrawal soon.
import { v7 as uuid } from 'uuid';

import { pseudonymsOf } from '#server/secrets/secrets.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import { lockAddress, type Db, type OpenDatabase } from '#server/db/engine/connect.ts';
import { findHolder } from '#server/db/contacts/people.ts';
import type { SuppressionReason, WithdrawalWay } from '#server/db/all-tables.ts';
import {
  addressOfLead,
  noteWithdrawal,
  ownWithdrawalSince,
  suppress,
  suppressionsOf,
  type ListedAddress,
} from '#server/db/tables/suppressions.ts';
import type { Webhooks } from '#server/webhooks/webhooks.ts';

type WithdrawalParts = {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly webhooks: Pick<Webhooks, 'queue' | 'wake'>;
};

/** In the caller's transaction. happenedAt and now: milliseconds since 1970 */
export const complaintsTo = (parts: WithdrawalParts) => ({
  withdraw: (tx: Db, complaint: { leadId: string; happenedAt: number; now: number }) =>
    withdrawIn(tx, parts, { ...complaint, way: 'complaint', clientAddress: null, userAgent: null }),
});

type Withdrawal = {
  readonly leadId: string;
  readonly way: WithdrawalWay;
  readonly note?: string | null;
  /** Null unless a visitor asked. */
  readonly clientAddress: string | null;
  readonly userAgent: string | null;
  /** For reports that may arrive late. Milliseconds since 1970. */
  readonly happenedAt?: number;
  readonly now: number;
};

/** `already`: withdrawn before. `outdated`: the lead agreed again since. `unknown`: no such lead. */
type WithdrawalOutcome = 'withdrawn' | 'already' | 'outdated' | 'unknown';

export async function withdrawConsent(
  parts: WithdrawalParts,
  withdrawal: Withdrawal,
): Promise<WithdrawalOutcome> {
  const outcome = await parts.database.db.transaction().execute((tx) => withdrawIn(tx, parts, withdrawal));
  parts.webhooks.wake();
  return outcome;
}

/** The caller wakes the webhooks after its transaction. */
export async function withdrawIn(
  tx: Db,
  { database, secrets, webhooks }: WithdrawalParts,
  { leadId, way, note = null, clientAddress, userAgent, happenedAt, now }: Withdrawal,
): Promise<WithdrawalOutcome> {
  const seen = await addressOfLead(tx, leadId);
  if (seen === undefined) return 'unknown';
  // A code or an erasure may be under way.
  await lockAddress(tx, database.engine, seen);
  const email = await addressOfLead(tx, leadId);
  if (email === undefined) return 'unknown';
  if (happenedAt !== undefined) {
    const holder = await findHolder(tx, email);
    if ((holder?.lastVerifiedAt ?? 0) > happenedAt) return 'outdated';
  }
  const keys = pseudonymsOf(secrets, email);
  const reason = way === 'complaint' ? 'complained' : 'unsubscribed';
  const isNew = await suppress(tx, { keys, reason, email, note, now });
  // The operator can undo their own note, so the person's later withdrawal must be recorded too.
  if (!isNew && (way === 'by-hand' || (await isKnownAsTheirs(tx, { keys, email, reason })))) return 'already';
  await noteWithdrawal(tx, {
    // The sealer finds new withdrawals by ID.
    id: uuid({ msecs: now }),
    lead_id: leadId,
    way,
    withdrawn_at: now,
    client_address: clientAddress,
    user_agent: userAgent,
  });
  if (!isNew) return 'already';
  await webhooks.queue(tx, { type: 'lead.unsubscribed', leadId, now });
  return 'withdrawn';
}

async function isKnownAsTheirs(
  tx: Db,
  { reason, ...address }: ListedAddress & { readonly reason: SuppressionReason },
): Promise<boolean> {
  const listed = (await suppressionsOf(tx, address)).find((one) => one.reason === reason);
  return ownWithdrawalSince(tx, { email: address.email, since: listed?.created_at ?? 0 });
}

// Takes a withdrawal of consent: notes it beside the lead, suppresses mail to the address; the chain seals it soon.
import { v7 as uuid } from 'uuid';

import { pseudonymsOf } from '#server/secrets/pseudonyms.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import { lockAddress } from '#server/db/engine/address-lock.ts';
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { findHolder } from '#server/db/queries/returned-mail.ts';
import type { SuppressionReason, WithdrawalWay } from '#server/db/schema.ts';
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

/** What a complaint brings about that a mail provider reports, in the provider's transaction. happenedAt and now: milliseconds since 1970 */
export const complaintsTo = (parts: WithdrawalParts) => ({
  withdraw: (tx: Db, complaint: { leadId: string; happenedAt: number; now: number }) =>
    withdrawIn(tx, parts, { ...complaint, way: 'complaint', clientAddress: null, userAgent: null }),
});

type Withdrawal = {
  readonly leadId: string;
  /** How it came. */
  readonly way: WithdrawalWay;
  /** What the operator adds. */
  readonly note?: string | null;
  /** The network address of the visitor who asked; null when it was no visitor. */
  readonly clientAddress: string | null;
  readonly userAgent: string | null;
  /** For what others report, possibly late. Milliseconds since 1970, as now. */
  readonly happenedAt?: number;
  readonly now: number;
};

/** `already`: it was withdrawn before. `outdated`: the lead agreed again since it happened. `unknown`: there is no such lead (any more). */
type WithdrawalOutcome = 'withdrawn' | 'already' | 'outdated' | 'unknown';

/** Withdraws a lead's consent. */
export async function withdrawConsent(
  parts: WithdrawalParts,
  withdrawal: Withdrawal,
): Promise<WithdrawalOutcome> {
  const outcome = await parts.database.db.transaction().execute((tx) => withdrawIn(tx, parts, withdrawal));
  parts.webhooks.wake();
  return outcome;
}

/** The same in a transaction of the caller, who wakes the webhooks after it. */
export async function withdrawIn(
  tx: Db,
  { database, secrets, webhooks }: WithdrawalParts,
  { leadId, way, note = null, clientAddress, userAgent, happenedAt, now }: Withdrawal,
): Promise<WithdrawalOutcome> {
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
  const isNew = await suppress(tx, { keys, reason, email, note, now });
  // What the operator noted, the operator can undo as a slip: that the person did it as well has to be known then.
  if (!isNew && (way === 'by-hand' || (await isKnownAsTheirs(tx, { keys, email, reason })))) return 'already';
  await noteWithdrawal(tx, {
    // The sealer finds new withdrawals by their ids.
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

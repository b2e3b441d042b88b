import { appendEntries, lockChain } from '#server/consent/chain.ts';
import { type Db, acquireLocks, type OpenDatabase } from '#server/db/engine/connect.ts';
import { newIdAt } from '#server/db/engine/ids.ts';
import type { SuppressionReason, WithdrawalWay } from '#server/db/all-tables.ts';
import { findLeadId } from '#server/db/tables/leads.ts';
import {
  type ListedAddress,
  ownWithdrawalSince,
  removeSuppressions,
  suppress,
  type Suppression,
  suppressionsOf,
} from '#server/db/tables/suppressions.ts';
import { isoTime } from '#server/platform/time.ts';
import { pseudonymsOf, type Secrets } from '#server/secrets/secrets.ts';
import type { Webhooks } from '#server/webhooks/webhooks.ts';

export type WithdrawalParts = {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly webhooks: Pick<Webhooks, 'queue' | 'wake'>;
};

type Withdrawal = {
  readonly leadId: string;
  readonly way: WithdrawalWay;
  readonly note?: string | null;
  readonly clientAddress?: string | null;
  readonly userAgent?: string | null;
  readonly happenedAt?: number;
  readonly now: number;
};

/** `already`: withdrawn earlier. `outdated`: the lead agreed again since. `unknown`: no such lead. */
type WithdrawalOutcome = 'withdrawn' | 'already' | 'outdated' | 'unknown';

export async function withdrawConsent(
  parts: WithdrawalParts,
  withdrawal: Withdrawal,
): Promise<WithdrawalOutcome> {
  const outcome = await parts.database.db.transaction().execute((tx) => withdrawIn(tx, parts, withdrawal));
  parts.webhooks.wake();
  return outcome;
}

/** Call this in a transaction; wake the webhooks after it. */
export async function withdrawIn(
  tx: Db,
  { secrets, webhooks }: WithdrawalParts,
  { leadId, way, note = null, clientAddress = null, userAgent = null, happenedAt, now }: Withdrawal,
): Promise<WithdrawalOutcome> {
  const leads = tx.selectFrom('leads').select(['email', 'last_verified_at']).where('id', '=', leadId);
  const found = await leads.executeTakeFirst();
  if (found === undefined) return 'unknown';
  // Another transaction may be accepting a code or erasing the lead.
  await acquireLocks(tx, found.email);
  const lead = await leads.executeTakeFirst();
  if (lead === undefined) return 'unknown';
  const { email } = lead;
  if (happenedAt !== undefined && lead.last_verified_at > happenedAt) return 'outdated';
  const keys = pseudonymsOf(secrets, email);
  const reason = way === 'complaint' ? 'complained' : 'unsubscribed';
  const isNew = await suppress(tx, { keys, reason, email, note, now });
  // The operator can undo their own note, so the person's later withdrawal is recorded too.
  if (!isNew && (way === 'by-hand' || (await hasWithdrawnThemselves(tx, { keys, email, reason }))))
    return 'already';
  const visitor = { client_address: clientAddress, user_agent: userAgent };
  await tx
    .insertInto('withdrawals')
    // The sealer finds new withdrawals by ID.
    .values({ id: newIdAt(now), lead_id: leadId, way, withdrawn_at: now, ...visitor })
    .execute();
  if (!isNew) return 'already';
  await webhooks.queue(tx, { type: 'lead.unsubscribed', leadId, now });
  return 'withdrawn';
}

async function hasWithdrawnThemselves(
  tx: Db,
  { reason, ...address }: ListedAddress & { readonly reason: SuppressionReason },
): Promise<boolean> {
  const listed = (await suppressionsOf(tx, address)).find((one) => one.reason === reason);
  return ownWithdrawalSince(tx, { email: address.email, since: listed?.created_at ?? 0 });
}

/**
 * `operator`: unrelated to consent. `noted`: the operator noted that the person unsubscribed. `person`: the person unsubscribed,
 * complained or was erased. A person's own suppression remains until they verify a new consent.
 */
type SuppressionOwner = 'operator' | 'noted' | 'person';

export type ListedSuppression = {
  readonly reason: SuppressionReason;
  readonly owner: SuppressionOwner;
  readonly since: number;
  readonly note: string | null;
};

export async function listSuppressions(
  db: Db,
  address: ListedAddress,
): Promise<readonly ListedSuppression[]> {
  const rows = await suppressionsOf(db, address);
  const wasErased = rows.some(({ reason }) => reason === 'erased');
  return Array.fromAsync(rows, async (row) => {
    const { reason, note, created_at: since } = row;
    return { reason, owner: await ownerOf(db, row, wasErased), since, note };
  });
}

async function ownerOf(
  db: Db,
  { reason, email, created_at: since }: Suppression,
  wasErased: boolean,
): Promise<SuppressionOwner> {
  if (reason === 'by-hand' || reason === 'bounced') return 'operator';
  // Complaints always come from the person. After an erasure, it is unknown who withdrew the consent.
  if (reason !== 'unsubscribed' || email === null || wasErased) return 'person';
  return (await ownWithdrawalSince(db, { email, since })) ? 'person' : 'noted';
}

/**
 * Removes the operator's suppressions and keeps the person's own. The caller must have locked the e-mail address, because the
 * person may be unsubscribing.
 * @param undo note: the reason, which is sealed if the address belongs to a lead
 */
export async function undoSuppressions(
  tx: Db,
  undo: {
    readonly address: ListedAddress;
    readonly reasons: readonly SuppressionReason[];
    readonly note: string | null;
    readonly secrets: Secrets;
    readonly now: number;
  },
): Promise<{
  readonly removed: readonly ListedSuppression[];
  readonly remaining: readonly ListedSuppression[];
  readonly position: number | null;
}> {
  const { address, reasons, note, secrets, now } = undo;
  const entries = await listSuppressions(tx, address);
  const isRemoved = ({ reason, owner }: ListedSuppression) => owner !== 'person' && reasons.includes(reason);
  const removed = entries.filter(isRemoved);
  const remaining = entries.filter((entry) => !isRemoved(entry));
  if (removed.length === 0) return { removed, remaining, position: null };
  await removeSuppressions(tx, { ...address, reasons: removed.map(({ reason }) => reason) });
  const leadId = note === null ? undefined : await findLeadId(tx, address.email);
  if (note === null || leadId === undefined) return { removed, remaining, position: null };
  await lockChain(tx);
  const rowId = newIdAt(now);
  const undone = removed.map(({ reason }) => reason).join(' ');
  await tx
    .insertInto('suppression_removals')
    .values({ id: rowId, lead_id: leadId, reasons: undone, note, removed_at: now })
    .execute();
  const content = { email: address.email, reasons: undone, note, removed_at: isoTime(now) };
  const position = await appendEntries(tx, [{ kind: 'removal', rowId, content }], { secrets, now });
  return { removed, remaining, position };
}

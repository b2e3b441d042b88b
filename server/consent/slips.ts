// A person's own suppression stays until a new verified consent.
import { v7 as uuid } from 'uuid';

import { appendEntries, lockChain } from '#server/consent/chain.ts';
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import type { SuppressionReason } from '#server/db/all-tables.ts';
import { findLeadId } from '#server/db/tables/leads.ts';
import {
  ownWithdrawalSince,
  removeSuppressions,
  suppressionsOf,
  type ListedAddress,
  type Suppression,
} from '#server/db/tables/suppressions.ts';
import { isoTime } from '#server/platform/time.ts';
import type { Secrets } from '#server/secrets/secrets.ts';

/**
 * `operator`: not about consent. `noted`: the operator noted that the person unsubscribed. `person`: unsubscribed, complained or
 * erased.
 */
type EntryOwner = 'operator' | 'noted' | 'person';

export type ListEntry = {
  readonly reason: SuppressionReason;
  readonly owner: EntryOwner;
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly note: string | null;
};

export async function listEntries(db: Db, address: ListedAddress): Promise<readonly ListEntry[]> {
  const rows = await suppressionsOf(db, address);
  const wasErased = rows.some(({ reason }) => reason === 'erased');
  const entries: ListEntry[] = [];
  for (const row of rows) {
    const { reason, note, created_at: since } = row;
    entries.push({ reason, owner: await ownerOf(db, row, wasErased), since, note });
  }
  return entries;
}

async function ownerOf(
  db: Db,
  { reason, email, created_at: since }: Suppression,
  wasErased: boolean,
): Promise<EntryOwner> {
  if (reason === 'by-hand' || reason === 'bounced') return 'operator';
  // A complaint is the person's. After an erasure nobody knows who withdrew the consent.
  if (reason !== 'unsubscribed' || email === null || wasErased) return 'person';
  return (await ownWithdrawalSince(db, { email, since })) ? 'person' : 'noted';
}

/**
 * The person's own suppressions stay.
 * @param tx holds the lock of the e-mail address: the person may be unsubscribing
 * @param options note: reason, sealed if the address is a lead's; now: milliseconds since 1970
 * @returns removed and remaining reasons, and the note's position in the chain, or null
 */
export async function removeSlips(
  tx: Db,
  engine: OpenDatabase['engine'],
  {
    address,
    reasons,
    note,
    secrets,
    now,
  }: {
    readonly address: ListedAddress;
    readonly reasons: readonly SuppressionReason[];
    readonly note: string | null;
    readonly secrets: Secrets;
    readonly now: number;
  },
): Promise<{
  readonly removed: readonly ListEntry[];
  readonly left: readonly ListEntry[];
  readonly position: number | null;
}> {
  const entries = await listEntries(tx, address);
  const isSlip = ({ reason, owner }: ListEntry) => owner !== 'person' && reasons.includes(reason);
  const removed = entries.filter(isSlip);
  const left = entries.filter((entry) => !isSlip(entry));
  if (removed.length === 0) return { removed, left, position: null };
  await removeSuppressions(tx, { ...address, reasons: removed.map(({ reason }) => reason) });
  const leadId = note === null ? undefined : await findLeadId(tx, address.email);
  if (note === null || leadId === undefined) return { removed, left, position: null };
  await lockChain(tx, engine);
  const rowId = uuid({ msecs: now });
  const undone = removed.map(({ reason }) => reason).join(' ');
  await tx
    .insertInto('suppression_removals')
    .values({ id: rowId, lead_id: leadId, reasons: undone, note, removed_at: now })
    .execute();
  const content = { email: address.email, reasons: undone, note, removed_at: isoTime(now) };
  const position = await appendEntries(tx, [{ kind: 'removal', rowId, content }], { secrets, now });
  return { removed, left, position };
}

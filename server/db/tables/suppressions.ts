// The list of addresses that must not be mailed, and the withdrawals behind it. An address is listed under its pseudonym, so that the entry
// outlives its erasure; and in clear until then, so that the entry outlives the secret that the pseudonym was made with.
import { sql, type RawBuilder, type Selectable } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { pagesAfter } from '#server/db/engine/page-through-table.ts';
import type { Schema, SuppressionReason } from '#server/db/schema.ts';

export type Suppression = Selectable<Schema['suppressions']>;
export type Withdrawal = Selectable<Schema['withdrawals']>;

/**
 * Puts an address on the list.
 * @param entry keys: its pseudonyms (server/secrets/pseudonyms.ts), the newest first; email: as stored, null for one that was erased
 * @returns false when it is already listed for this reason, with its address
 */
export async function suppress(
  tx: Db,
  {
    keys,
    reason,
    email,
    note = null,
    now,
  }: {
    keys: readonly [string, ...string[]];
    reason: SuppressionReason;
    email: string | null;
    note?: string | null;
    now: number;
  },
): Promise<boolean> {
  const known = await suppressionsOf(tx, { keys, email: email ?? '' });
  const listed = known.find((one) => one.reason === reason);
  if (listed !== undefined) {
    if (listed.email !== null || email === null) return false;
    // It outlived an erasure or its time, without the address by which everything else but mail finds it.
    await tx
      .updateTable('suppressions')
      .set({ email, note, created_at: now })
      .where('address_key', '=', listed.address_key)
      .where('reason', '=', reason)
      .execute();
    return true;
  }
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('suppressions')
    .values({ address_key: keys[0], reason, email, note, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return Number(numInsertedOrUpdatedRows) > 0;
}

/** An address as the list knows it. @param keys all its pseudonyms; email: as stored */
export type ListedAddress = { readonly keys: readonly [string, ...string[]]; readonly email: string };

/** Whether an e-mail address is on the list: a column of another query. */
export const isListed = ({ keys, email }: ListedAddress): RawBuilder<boolean> =>
  sql<boolean>`exists (select 1 from suppressions where address_key in (${sql.join(keys)}) or suppressions.email = ${email})`;

/** Why an address is on the list. */
export const suppressionsOf = (db: Db, { keys, email }: ListedAddress): Promise<Suppression[]> =>
  suppressionsOfMany(db, { keys, emails: [email] });

const suppressionsOfMany = (
  db: Db,
  { keys, emails }: { keys: readonly string[]; emails: readonly string[] },
): Promise<Suppression[]> =>
  db
    .selectFrom('suppressions')
    .selectAll()
    .where((eb) => eb.or([eb('address_key', 'in', keys), eb('email', 'in', emails)]))
    .orderBy('created_at')
    .execute();

/** Why addresses are on the list. @param addresses a few hundred @returns by pseudonym, and by address */
export async function suppressionReasons(
  db: Db,
  addresses: readonly { readonly keys: readonly string[]; readonly email: string }[],
): Promise<ReadonlyMap<string, readonly SuppressionReason[]>> {
  const found = await suppressionsOfMany(db, {
    keys: addresses.flatMap(({ keys }) => keys),
    emails: addresses.map(({ email }) => email),
  });
  const reasons = new Map<string, SuppressionReason[]>();
  for (const { address_key: key, email, reason } of found)
    for (const name of email === null ? [key] : [key, email])
      reasons.set(name, [...(reasons.get(name) ?? []), reason]);
  return reasons;
}

/** Takes an address that was verified anew off the list, unless the operator put it there and it was not erased since. */
export async function liftSuppressions(tx: Db, { keys, email }: ListedAddress): Promise<void> {
  await tx
    .deleteFrom('suppressions')
    .where((eb) => eb.or([eb('address_key', 'in', keys), eb('email', '=', email)]))
    .where((eb) => eb.or([eb('reason', '<>', 'by-hand'), eb('email', 'is', null)]))
    .execute();
}

/** Removes an address's entries for these reasons. @returns how many were removed */
export async function removeSuppressions(
  db: Db,
  { keys, email, reasons }: ListedAddress & { reasons: readonly SuppressionReason[] },
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('suppressions')
    .where((eb) => eb.or([eb('address_key', 'in', keys), eb('email', '=', email)]))
    .where('reason', 'in', reasons)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

const PAGE_SIZE = 500;

/** Reads the list, a page at a time. */
export function suppressionPages(db: Db): AsyncGenerator<readonly Suppression[], void, void> {
  const readAfter = (after: { readonly key: string; readonly reason: string }) =>
    db
      .selectFrom('suppressions')
      .selectAll()
      .where((eb) =>
        eb.or([
          eb('address_key', '>', after.key),
          eb.and([eb('address_key', '=', after.key), eb('reason', '>', after.reason as SuppressionReason)]),
        ]),
      )
      .orderBy('address_key')
      .orderBy('reason')
      .limit(PAGE_SIZE)
      .execute();
  return pagesAfter({ key: '', reason: '' }, readAfter, ({ address_key, reason }) => ({
    key: address_key,
    reason,
  }));
}

/** Where a page of the list ends. */
type ListPlace = Pick<Suppression, 'created_at' | 'address_key' | 'reason'>;

/** Reads a part of the list, the newest entries first. @param after the entry before; null: from the newest on */
export const newestSuppressions = (
  db: Db,
  { after, most }: { readonly after: ListPlace | null; readonly most: number },
): Promise<Suppression[]> =>
  db
    .selectFrom('suppressions')
    .selectAll()
    .$if(after !== null, (query) =>
      // Says once more where to begin: an index does not serve the three together.
      query
        .where('created_at', '<=', after!.created_at)
        .where((eb) =>
          eb.or([
            eb('created_at', '<', after!.created_at),
            eb.and([eb('created_at', '=', after!.created_at), eb('address_key', '>', after!.address_key)]),
            eb.and([
              eb('created_at', '=', after!.created_at),
              eb('address_key', '=', after!.address_key),
              eb('reason', '>', after!.reason),
            ]),
          ]),
        ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('address_key')
    .orderBy('reason')
    .limit(most)
    .execute();

/** Records that a lead withdrew their consent. */
export async function noteWithdrawal(tx: Db, withdrawal: Withdrawal): Promise<void> {
  await tx.insertInto('withdrawals').values(withdrawal).execute();
}

/**
 * Whether a lead took their consent back themselves, other than by way of the operator.
 * @param since then or later; milliseconds since 1970
 */
export async function ownWithdrawalSince(
  db: Db,
  { email, since }: { readonly email: string; readonly since: number },
): Promise<boolean> {
  const row = await db
    .selectFrom('withdrawals as w')
    .innerJoin('leads as l', 'l.id', 'w.lead_id')
    .select('w.id')
    .where('l.email', '=', email)
    .where('w.way', '<>', 'by-hand')
    .where('w.withdrawn_at', '>=', since)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** The address of a lead; undefined when it was erased. */
export async function addressOfLead(db: Db, leadId: string): Promise<string | undefined> {
  const row = await db.selectFrom('leads').select('email').where('id', '=', leadId).executeTakeFirst();
  return row?.email;
}

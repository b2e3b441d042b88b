// Entries contain a pseudonym, which survives an erasure, and until then the e-mail address, which survives a lost secret.
import { sql, type RawBuilder, type Selectable } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { pagesAfter } from '#server/db/engine/page-through-table.ts';
import { changedRows, hasChanged, hasRow } from '#server/db/engine/row-counts.ts';
import type { Schema, SuppressionReason } from '#server/db/all-tables.ts';

export type Suppression = Selectable<Schema['suppressions']>;

/**
 * @param entry keys: pseudonyms, newest first; email: null if erased
 * @returns false if an entry with this reason and the e-mail address already exists
 */
export async function suppress(
  tx: Db,
  entry: {
    keys: readonly [string, ...string[]];
    reason: SuppressionReason;
    email: string | null;
    note?: string | null;
    now: number;
  },
): Promise<boolean> {
  const { keys, reason, email, note = null, now } = entry;
  const known = await suppressionsOf(tx, { keys, email: email ?? '' });
  const listed = known.find((one) => one.reason === reason);
  if (listed !== undefined) {
    if (listed.email !== null || email === null) return false;
    await tx
      .updateTable('suppressions')
      .set({ email, note, created_at: now })
      .where('address_key', '=', listed.address_key)
      .where('reason', '=', reason)
      .execute();
    return true;
  }
  return hasChanged(
    tx
      .insertInto('suppressions')
      .values({ address_key: keys[0], reason, email, note, created_at: now })
      .onConflict((conflict) => conflict.doNothing()),
  );
}

export type ListedAddress = { readonly keys: readonly [string, ...string[]]; readonly email: string };

const matches = ({ keys, email }: ListedAddress): RawBuilder<boolean> =>
  sql<boolean>`(address_key in (${sql.join(keys)}) or suppressions.email = ${email})`;

export const isListed = (address: ListedAddress): RawBuilder<boolean> =>
  sql<boolean>`exists (select 1 from suppressions where ${matches(address)})`;

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

/**
 * @param addresses at most a few hundred
 * @returns a function that gives the reasons of one of them
 */
export async function suppressionReasons(
  db: Db,
  addresses: readonly ListedAddress[],
): Promise<(address: ListedAddress) => readonly SuppressionReason[]> {
  const found = await suppressionsOfMany(db, {
    keys: addresses.flatMap(({ keys }) => keys),
    emails: addresses.map(({ email }) => email),
  });
  const reasons = new Map<string, SuppressionReason[]>();
  for (const { address_key: key, email, reason } of found)
    for (const name of email === null ? [key] : [key, email])
      reasons.set(name, [...(reasons.get(name) ?? []), reason]);
  return ({ keys, email }) => [...new Set([email, ...keys].flatMap((name) => reasons.get(name) ?? []))];
}

/** Keeps the operator's entries, unless the e-mail address was erased since. */
export async function liftSuppressions(tx: Db, address: ListedAddress): Promise<void> {
  await tx
    .deleteFrom('suppressions')
    .where(matches(address))
    .where((eb) => eb.or([eb('reason', '<>', 'by-hand'), eb('email', 'is', null)]))
    .execute();
}

export async function removeSuppressions(
  db: Db,
  { reasons, ...address }: ListedAddress & { reasons: readonly SuppressionReason[] },
): Promise<number> {
  return changedRows(db.deleteFrom('suppressions').where(matches(address)).where('reason', 'in', reasons));
}

const PAGE_SIZE = 500;

export function suppressionPages(db: Db): AsyncGenerator<readonly Suppression[], void, void> {
  const readAfter = ([key, reason]: readonly string[]) =>
    db
      .selectFrom('suppressions')
      .selectAll()
      .where(sql<boolean>`(address_key, reason) > (${key}, ${reason})`)
      .orderBy('address_key')
      .orderBy('reason')
      .limit(PAGE_SIZE)
      .execute();
  return pagesAfter(['', ''], readAfter, ({ address_key: key, reason }) => [key, reason]);
}

type ListCursor = Pick<Suppression, 'created_at' | 'address_key' | 'reason'>;

export const newestSuppressions = (
  db: Db,
  { after, limit }: { readonly after: ListCursor | null; readonly limit: number },
): Promise<Suppression[]> =>
  db
    .selectFrom('suppressions')
    .selectAll()
    .$if(after !== null, (query) =>
      // A redundant bound, so that the index is used.
      query
        .where('created_at', '<=', after!.created_at)
        .where(
          sql<boolean>`(created_at < ${after!.created_at} or (address_key, reason) > (${after!.address_key}, ${after!.reason}))`,
        ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('address_key')
    .orderBy('reason')
    .limit(limit)
    .execute();

/**
 * Ignores the operator's notes.
 * @param since inclusive
 */
export async function ownWithdrawalSince(
  db: Db,
  { email, since }: { readonly email: string; readonly since: number },
): Promise<boolean> {
  return hasRow(
    db
      .selectFrom('withdrawals as w')
      .innerJoin('leads as l', 'l.id', 'w.lead_id')
      .select('w.id')
      .where('l.email', '=', email)
      .where('w.way', '<>', 'by-hand')
      .where('w.withdrawn_at', '>=', since),
  );
}

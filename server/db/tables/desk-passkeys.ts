import type { Selectable } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { columnsOf, type Schema } from '#server/db/all-tables.ts';

export type DeskPasskey = Selectable<Schema['desk_passkeys']>;

/** @returns false if the ID already exists */
export async function insertPasskey(db: Db, passkey: Omit<DeskPasskey, 'used_at'>): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('desk_passkeys')
    .values(passkey)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirstOrThrow();
  return Number(numInsertedOrUpdatedRows) > 0;
}

export const findPasskey = (db: Db, id: string): Promise<DeskPasskey | undefined> =>
  db.selectFrom('desk_passkeys').select(columnsOf('desk_passkeys')).where('id', '=', id).executeTakeFirst();

export const passkeysOf = (db: Db, email: string): Promise<DeskPasskey[]> =>
  db
    .selectFrom('desk_passkeys')
    .select(columnsOf('desk_passkeys'))
    .where('email', '=', email)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();

/**
 * @param use counter: 0 without one
 * @returns false if another use has the same count, so one is a copy
 */
export async function noteUse(
  tx: Db,
  { id, counter, publicKey, now }: { id: string; counter: number; publicKey: string; now: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('desk_passkeys')
    .set({ counter, public_key: publicKey, used_at: now })
    .where('id', '=', id)
    .where((eb) => (counter === 0 ? eb('counter', '=', 0) : eb('counter', '<', counter)))
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** @returns false if they have no such passkey */
export async function deletePasskey(db: Db, { id, email }: { id: string; email: string }): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('desk_passkeys')
    .where('id', '=', id)
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

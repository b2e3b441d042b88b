// Passkeys of people of the desk.
import type { Selectable } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { columnsOf } from '#server/db/all-tables.ts';
import type { Schema } from '#server/db/schema.ts';

export type DeskPasskey = Selectable<Schema['desk_passkeys']>;

/** @returns false when there is one with this id already */
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

/** A person's passkeys, the newest first. */
export const passkeysOf = (db: Db, email: string): Promise<DeskPasskey[]> =>
  db
    .selectFrom('desk_passkeys')
    .select(columnsOf('desk_passkeys'))
    .where('email', '=', email)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();

/**
 * Notes that a passkey was used.
 * @param use counter: as its authenticator counts; 0 where it does not. publicKey: as it is to be stored
 * @returns false when another use has counted as far: one of the two is a copy
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

/** Removes a passkey of a person. @returns false when they have no such passkey */
export async function deletePasskey(db: Db, { id, email }: { id: string; email: string }): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('desk_passkeys')
    .where('id', '=', id)
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

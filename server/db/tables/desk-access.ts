import type { Selectable } from 'kysely';

import { columnsOf, type Schema } from '#server/db/all-tables.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { changedRows, hasChanged } from '#server/db/engine/row-counts.ts';

export type DeskSession = Selectable<Schema['desk_sessions']>;

export async function insertSession(db: Db, session: DeskSession): Promise<void> {
  await db.insertInto('desk_sessions').values(session).execute();
}

const unexpiredSessions = (db: Db, now: number) =>
  db.selectFrom('desk_sessions').select(columnsOf('desk_sessions')).where('ends_at', '>', now);

export const findSession = (db: Db, id: string, now: number): Promise<DeskSession | undefined> =>
  unexpiredSessions(db, now).where('id', '=', id).executeTakeFirst();

export const sessionsOf = (db: Db, email: string, now: number): Promise<DeskSession[]> =>
  unexpiredSessions(db, now).where('email', '=', email).orderBy('id', 'desc').execute();

/** @returns false if the desk user has no such session or passkey */
export async function deleteOwn(
  db: Db,
  table: 'desk_sessions' | 'desk_passkeys',
  { id, email }: { id: string; email: string },
): Promise<boolean> {
  return hasChanged(db.deleteFrom(table).where('id', '=', id).where('email', '=', email));
}

export type DeskPasskey = Selectable<Schema['desk_passkeys']>;

export async function insertPasskey(db: Db, passkey: Omit<DeskPasskey, 'used_at'>): Promise<boolean> {
  return hasChanged(
    db
      .insertInto('desk_passkeys')
      .values(passkey)
      .onConflict((conflict) => conflict.column('id').doNothing()),
  );
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
 * Authenticators either count their uses or always send 0 (WebAuthn, section 6.1.1).
 * @returns false if the counter did not rise, so the passkey may have been copied
 */
export async function recordPasskeyUse(
  tx: Db,
  { id, counter, publicKey, now }: { id: string; counter: number; publicKey: string; now: number },
): Promise<boolean> {
  return hasChanged(
    tx
      .updateTable('desk_passkeys')
      .set({ counter, public_key: publicKey, used_at: now })
      .where('id', '=', id)
      .where((eb) => (counter === 0 ? eb('counter', '=', 0) : eb('counter', '<', counter))),
  );
}

/** @returns number of deleted rows */
export async function deleteDeskAccess(
  db: Db,
  { except }: { readonly except: readonly string[] },
): Promise<number> {
  let deleted = 0;
  for (const table of ['desk_sessions', 'desk_sign_ins', 'desk_passkeys'] as const)
    deleted += await changedRows(
      db.deleteFrom(table).$if(except.length > 0, (query) => query.where('email', 'not in', except)),
    );
  return deleted;
}

/**
 * Keeps passkeys.
 * @returns number of unexpired sessions
 */
export async function endSessionsOf(
  db: Db,
  { email, now }: { readonly email: string; readonly now: number },
): Promise<number> {
  // Deleted first, because on PostgreSQL this waits for a code that is being accepted, whose session is not yet visible.
  await db.deleteFrom('desk_sign_ins').where('email', '=', email).execute();
  const open = await sessionsOf(db, email, now);
  await db.deleteFrom('desk_sessions').where('email', '=', email).execute();
  return open.length;
}

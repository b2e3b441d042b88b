// The ids of the secrets that this database was used with; an id reveals nothing about its secret. A start without any of them would end
// every session and every live code, and must not happen by accident.
import type { Db } from '#server/db/engine/connect.ts';

/** The ids of all secrets that a server was ever started with on this database. */
export async function knownSecretIds(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('known_secrets').select('id').execute();
  return rows.map(({ id }) => id);
}

/** Records the secrets that a server starts with. */
export async function rememberSecretIds(db: Db, ids: readonly string[], now: number): Promise<void> {
  await db
    .insertInto('known_secrets')
    .values(ids.map((id) => ({ id, first_used_at: now })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

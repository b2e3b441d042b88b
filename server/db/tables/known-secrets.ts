// The server refuses to start if it has none of the known secrets, because that would invalidate every session and code.
import type { Db } from '#server/db/engine/connect.ts';

export async function knownSecretIds(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('known_secrets').select('id').execute();
  return rows.map(({ id }) => id);
}

export async function rememberSecretIds(db: Db, ids: readonly string[], now: number): Promise<void> {
  await db
    .insertInto('known_secrets')
    .values(ids.map((id) => ({ id, first_used_at: now })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

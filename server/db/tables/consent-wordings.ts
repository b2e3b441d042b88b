// Every wording of the consent that the page has shown.
import type { Db } from '#server/db/engine/connect.ts';

/** The reserved version for forms whose sender did not state which wording it showed. */
export const NOT_STATED = 'not-stated';

/** Keeps a consent wording; one that is already there stays as it is. */
export async function keepConsentWording(
  db: Db,
  wording: { version: string; text: string; now: number },
): Promise<void> {
  await db
    .insertInto('consent_wordings')
    .values({ version: wording.version, text: wording.text, first_used_at: wording.now })
    .onConflict((conflict) => conflict.column('version').doNothing())
    .execute();
}

/** Whether a wording with this version was ever shown by a server of this database. */
export async function isKnownConsentWording(db: Db, version: string): Promise<boolean> {
  const row = await db
    .selectFrom('consent_wordings')
    .select('version')
    .where('version', '=', version)
    .executeTakeFirst();
  return row !== undefined;
}

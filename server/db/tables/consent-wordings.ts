import type { Db } from '#server/db/engine/connect.ts';
import { hasRow } from '#server/db/engine/row-counts.ts';

/** For forms that didn't state their wording. */
export const NOT_STATED = 'not-stated';

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

export async function isKnownConsentWording(db: Db, version: string): Promise<boolean> {
  return hasRow(db.selectFrom('consent_wordings').select('version').where('version', '=', version));
}

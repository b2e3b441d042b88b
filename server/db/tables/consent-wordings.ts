import type { Db } from '#server/db/engine/connect.ts';
import { hasRow } from '#server/db/engine/row-counts.ts';
import type { ConsentPurpose } from '#server/db/all-tables.ts';

/** For forms that didn't state their wording. */
export const NOT_STATED = 'not-stated';

export async function keepConsentWording(
  db: Db,
  { version, text, purpose, now }: { version: string; text: string; purpose: ConsentPurpose; now: number },
): Promise<void> {
  await db
    .insertInto('consent_wordings')
    .values({ version, text, purpose, first_used_at: now })
    .onConflict((conflict) => conflict.column('version').doNothing())
    .execute();
}

export async function isKnownConsentWording(
  db: Db,
  version: string,
  purpose: ConsentPurpose,
): Promise<boolean> {
  return hasRow(
    db
      .selectFrom('consent_wordings')
      .select('version')
      .where('version', '=', version)
      .where('purpose', '=', purpose),
  );
}

// What visitors typed, with the exact wording they agreed to.
import type { Insertable, Selectable } from 'kysely';

import type { Db } from '#server/db/connect.ts';
import type { Schema } from '#server/db/schema.ts';

export type Submission = Selectable<Schema['submissions']>;

/** The version of the reserved row for forms whose sender did not say which words it showed. */
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

export async function insertSubmission(db: Db, submission: Insertable<Schema['submissions']>): Promise<void> {
  await db.insertInto('submissions').values(submission).execute();
}

/** The newest submission of a challenge: somebody who corrected their name means the correction. */
export async function newestSubmission(db: Db, challengeId: string): Promise<Submission | undefined> {
  return db
    .selectFrom('submissions')
    .selectAll()
    .where('challenge_id', '=', challengeId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/**
 * The first of the submissions of a challenge that say the same as its newest: a resend repeats a form and is not the
 * moment at which it was filled in, nor the place.
 */
export async function firstLikeNewestSubmission(
  db: Db,
  challengeId: string,
): Promise<Submission | undefined> {
  const newest = await newestSubmission(db, challengeId);
  if (newest === undefined) return undefined;
  return db
    .selectFrom('submissions')
    .selectAll()
    .where('challenge_id', '=', challengeId)
    .where('name', '=', newest.name)
    .where('company', '=', newest.company)
    .where('email_typed', '=', newest.email_typed)
    .where('consent_version', '=', newest.consent_version)
    .orderBy('created_at', 'asc')
    .orderBy('id', 'asc')
    .limit(1)
    .executeTakeFirst();
}

// What visitors typed, with the exact wording they agreed to.
import type { Selectable } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { columnsOf } from '#server/db/all-tables.ts';
import type { Schema } from '#server/db/schema.ts';
import { answersOf } from '#shared/lead.ts';

export type Submission = Selectable<Schema['submissions']>;

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

export async function insertSubmission(db: Db, submission: Submission): Promise<void> {
  await db.insertInto('submissions').values(submission).execute();
}

const newestTwo = (db: Db, challengeId: string): Promise<Submission[]> =>
  db
    .selectFrom('submissions')
    .select(columnsOf('submissions'))
    .where('challenge_id', '=', challengeId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(2)
    .execute();

/** The newest submission of a challenge: a visitor who corrected their name means the correction. */
export async function newestSubmission(db: Db, challengeId: string): Promise<Submission | undefined> {
  const [newest] = await newestTwo(db, challengeId);
  return newest;
}

/**
 * The first submission of a challenge with the same content as its newest: a resend repeats the form, later and perhaps from elsewhere.
 */
export async function firstLikeNewestSubmission(
  db: Db,
  challengeId: string,
): Promise<Submission | undefined> {
  const [newest, older] = await newestTwo(db, challengeId);
  if (newest === undefined || older === undefined) return newest;
  return db
    .selectFrom('submissions')
    .select(columnsOf('submissions'))
    .where('challenge_id', '=', challengeId)
    .where((eb) => eb.and(answersOf(newest)))
    .where('email_typed', '=', newest.email_typed)
    .where('consent_version', '=', newest.consent_version)
    .orderBy('created_at', 'asc')
    .orderBy('id', 'asc')
    .limit(1)
    .executeTakeFirst();
}

// What visitors typed, with the exact wording they agreed to.
import type { Selectable } from 'kysely';

import type { Db } from '#server/db/connect.ts';
import type { Schema } from '#server/db/schema.ts';

export type Submission = Selectable<Schema['submissions']>;

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

export async function insertSubmission(
  db: Db,
  submission: {
    id: string;
    challengeId: string;
    name: string;
    company: string;
    emailTyped: string;
    email: string;
    consentVersion: string;
    clientAddress: string;
    userAgent: string | null;
    attribution: string;
    flags: string;
    now: number;
  },
): Promise<void> {
  await db
    .insertInto('submissions')
    .values({
      id: submission.id,
      challenge_id: submission.challengeId,
      name: submission.name,
      company: submission.company,
      email_typed: submission.emailTyped,
      email: submission.email,
      consent_version: submission.consentVersion,
      client_address: submission.clientAddress,
      user_agent: submission.userAgent,
      attribution: submission.attribution,
      flags: submission.flags,
      created_at: submission.now,
    })
    .execute();
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

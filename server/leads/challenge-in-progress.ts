// What a browser is waiting for, so that a reload of the code screen restores it and sends nothing.
import { codeReference } from '#server/access/one-time-code.ts';
import { findOpenChallenge } from '#server/db/challenges.ts';
import { newestCodeFromAddress, newestCodeOfChallenge } from '#server/db/codes.ts';
import { newestSubmission } from '#server/db/submissions.ts';
import { mailingTime } from '#server/leads/mailing-time.ts';
import type { RequestCodeParts } from '#server/leads/request-code.ts';
import type { OpenChallenge } from '#shared/api.ts';

/**
 * A challenge of a browser that is still open.
 * @param browserId from its challenge cookie
 * @param id which one; undefined for the newest
 */
export async function findChallengeInProgress(
  { database: { db }, secrets, clock, resendSeconds }: RequestCodeParts,
  browserId: string,
  id: string | undefined,
): Promise<OpenChallenge | null> {
  const now = clock();
  const challenge = await findOpenChallenge(db, { browserId, now, id });
  if (challenge === undefined) return null;
  const submission = await newestSubmission(db, challenge.id);
  if (submission === undefined) return null;
  const code =
    challenge.codes_sent > 0
      ? await newestCodeOfChallenge(db, challenge.id)
      : await newestCodeFromAddress(db, {
          email: challenge.email,
          clientAddress: submission.client_address,
          now,
        });
  if (code === undefined) return null;
  return {
    name: submission.name,
    company: submission.company,
    email: submission.email_typed,
    reference: codeReference(secrets, { id: code.id, secretId: code.secret_id }),
    resendSeconds: Math.max(0, Math.ceil(resendSeconds - (now - (await mailingTime(db, code, now))) / 1000)),
  };
}

/** Whether a browser waits for a code that was mailed for it. */
export async function isWaiting(
  { database: { db }, clock }: Pick<RequestCodeParts, 'database' | 'clock'>,
  browserId: string,
  email: string,
): Promise<boolean> {
  const challenge = await findOpenChallenge(db, { browserId, email, now: clock() });
  return challenge !== undefined && challenge.codes_sent > 0;
}

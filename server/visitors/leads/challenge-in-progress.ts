// The challenge a browser waits in, so that a reload of the code screen restores it and sends nothing.
import { codeReference } from '#server/secrets/one-time-code.ts';
import type { Db } from '#server/db/engine/connect.ts';
import {
  findOpenChallenge,
  findOpenChallengeFor,
  findVerifiedChallengeById,
  hasCodeOfItsOwn,
  type Challenge,
} from '#server/db/tables/challenges.ts';
import {
  codeItWasVerifiedWith,
  codeThatAnswers,
  liveCodeFromAddress,
  type Code,
} from '#server/db/tables/codes.ts';
import { findMailOfCode } from '#server/db/tables/outbox.ts';
import { newestSubmission, NOT_STATED } from '#server/db/tables/submissions.ts';
import { mailFate } from '#server/visitors/leads/mailing-time.ts';
import { resendInSeconds } from '#server/visitors/leads/request-code.ts';
import type { VisitorContext } from '#server/visitors/visitor-context.ts';
import type { OpenChallenge } from '#shared/api.ts';
import { typedAnswers } from '#shared/own-fields.ts';

/**
 * A challenge that a browser waits in, or has verified while its page did not see the answer. It then enters the same code again, or has
 * the session that opens the article.
 * @param browserId from its challenge cookie
 * @param wanted id: which one; undefined for the newest that is open. hasSession: whether this browser has a session
 */
export async function findChallengeInProgress(
  context: VisitorContext,
  browserId: string,
  { id, hasSession }: { readonly id: string | undefined; readonly hasSession: boolean },
): Promise<OpenChallenge | null> {
  const { db } = context.database;
  const { form } = context.campaign;
  const now = context.clock();
  const open = await findOpenChallenge(db, { browserId, now, id });
  const challenge =
    open ?? (id === undefined ? undefined : await findVerifiedChallengeById(db, { browserId, now, id }));
  if (challenge === undefined) return null;
  const submission = await newestSubmission(db, challenge.id);
  if (submission === undefined) return null;
  const code = await codeOf(db, challenge, submission.client_address, now);
  if (code === undefined) return null;
  const mail = await findMailOfCode(db, code.id);
  return {
    name: submission.name,
    company: submission.company,
    email: submission.email_typed,
    ...(form.fields.length > 0 && { answers: typedAnswers(form, submission.answers) }),
    reference: codeReference(context.secrets, { id: code.id, secretId: code.secret_id }),
    resendSeconds: resendInSeconds(context, code, mail, now),
    // Not below 0, if a wrong clock stored the time.
    askedSecondsAgo: Math.max(0, now - submission.created_at) / 1000,
    consentVersion: submission.consent_version === NOT_STATED ? '' : submission.consent_version,
    mail: mailFate(mail, now),
    sender: context.mail.sender,
    ...(challenge.verified_at !== null && hasSession && { verified: true }),
  };
}

/** The code that opens a challenge, or has opened it. */
async function codeOf(
  db: Db,
  challenge: Challenge,
  clientAddress: string,
  now: number,
): Promise<Code | undefined> {
  if (challenge.verified_at !== null) return codeItWasVerifiedWith(db, challenge, now);
  const { email } = challenge;
  const elsewhere = hasCodeOfItsOwn(challenge)
    ? undefined
    : await liveCodeFromAddress(db, { email, clientAddress }, now);
  return codeThatAnswers(db, challenge, elsewhere, now);
}

/** Whether a browser waits for a code that was mailed for it. */
export async function isWaiting(
  { database: { db }, clock }: Pick<VisitorContext, 'database' | 'clock'>,
  browserId: string,
  email: string,
): Promise<boolean> {
  const challenge = await findOpenChallengeFor(db, { browserId, email, now: clock() });
  return hasCodeOfItsOwn(challenge);
}

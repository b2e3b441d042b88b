// A code was entered. A try is counted in a committed statement BEFORE the comparison, so no number of calls at once
// buys an extra guess.
import { v7 as uuid } from 'uuid';

import { findCode } from '#server/access/one-time-code.ts';
import type { Secrets } from '#server/access/secrets.ts';
import {
  burnTry,
  closeChallenge,
  findOpenChallenge,
  lockAddress,
  type Challenge,
} from '#server/db/challenges.ts';
import { ACCEPTED_CODES, acceptedCodes, useCode, type Code } from '#server/db/codes.ts';
import type { Db, OpenDatabase } from '#server/db/connect.ts';
import { mergeLead } from '#server/db/leads.ts';
import { firstLikeNewestSubmission } from '#server/db/submissions.ts';
import type { LimitOutcome, Limits } from '#server/limits/limits.ts';
import type { ApiErrorCode } from '#shared/errors.ts';
import { normaliseEmail, type Verification } from '#shared/lead.ts';

export type VerifyCodeParts = {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly limits: Limits;
  readonly clock: () => number;
};

export type VerifyCodeOutcome =
  | {
      readonly type: 'verified';
      readonly leadId: string;
      /** From the mailing of the code to its entry. */
      readonly afterMs: number;
    }
  | { readonly type: 'refused'; readonly error: Extract<ApiErrorCode, 'wrong-code'> }
  | {
      readonly type: 'refused';
      readonly error: Extract<ApiErrorCode, 'too-many-requests' | 'too-many-tries'>;
      readonly retryAfterSeconds: number;
    };

const WRONG_CODE: VerifyCodeOutcome = { type: 'refused', error: 'wrong-code' };

/**
 * Handles a validated verification. Wrong, expired, used and unknown read the same.
 *
 * A challenge for which a code was mailed has tries of its own, which no stranger can use up; it accepts the two
 * newest live codes mailed for it. Everything else (no cookie, or a challenge that rides on another one's code)
 * shares one small budget for the address.
 *
 * @param browserId from the challenge cookie; null without one
 */
export async function verifyCode(
  parts: VerifyCodeParts,
  { email: typedEmail, code: typedCode }: Verification,
  { browserId, clientAddress }: { browserId: string | null; clientAddress: string },
): Promise<VerifyCodeOutcome> {
  const { db } = parts.database;
  const { limits, secrets } = parts;
  const now = parts.clock();
  const email = normaliseEmail(typedEmail);

  const asks = await limits.verifyFromNetwork(db, clientAddress, now);
  if (asks.type === 'exceeded') return { ...asks, type: 'refused', error: 'too-many-requests' };

  const challenge = browserId === null ? undefined : await findOpenChallenge(db, { browserId, email, now });
  const own = challenge !== undefined && challenge.codes_sent > 0;

  const allowed = own
    ? await countOwnTry(db, limits, challenge, now)
    : await limits.tryWithoutChallenge(db, email, now);
  if (allowed.type === 'exceeded') return { ...allowed, type: 'refused', error: 'too-many-tries' };

  const candidates = await acceptedCodes(db, own ? { challengeId: challenge.id } : { email }, now);
  const code = findCode(
    secrets,
    candidates.map((candidate) => ({ ...candidate, secretId: candidate.secret_id })),
    typedCode,
    ACCEPTED_CODES,
  );
  if (code === null) return WRONG_CODE;

  return db.transaction().execute(async (tx) => {
    // Two codes of one challenge entered at once would wait for each other.
    await lockAddress(tx, parts.database.engine, email);
    if (!(await useCode(tx, code, now))) return WRONG_CODE;
    await limits.forgiveTry(tx, email, now, own ? 'challenge' : 'address');
    return openLead(tx, { challenge, code, clientAddress, now });
  });
}

async function countOwnTry(db: Db, limits: Limits, challenge: Challenge, now: number): Promise<LimitOutcome> {
  if (!(await burnTry(db, challenge.id, limits.triesPerChallenge))) {
    return {
      type: 'exceeded',
      retryAfterSeconds: Math.max(1, Math.ceil((challenge.expires_at - now) / 1000)),
    };
  }
  await limits.noteTry(db, challenge.email, now);
  return { type: 'allowed' };
}

async function openLead(
  tx: Db,
  {
    challenge,
    code,
    clientAddress,
    now,
  }: { challenge: Challenge | undefined; code: Code; clientAddress: string; now: number },
): Promise<VerifyCodeOutcome> {
  const challengeId = challenge?.id ?? code.challenge_id;
  const submission = await firstLikeNewestSubmission(tx, challengeId);
  if (submission === undefined)
    throw new Error('A challenge without a submission: the two are stored together.');
  await closeChallenge(tx, challengeId, now);
  const leadId = await mergeLead(tx, submission, {
    leadId: uuid(),
    receiptId: uuid(),
    verifiedFromAddress: clientAddress,
    sameBrowser: challenge !== undefined,
    now,
  });
  return { type: 'verified', leadId, afterMs: now - code.created_at };
}

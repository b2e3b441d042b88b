// An attempt is consumed and committed before the code is compared, so each parallel guess costs an attempt. Another transaction
// creates or updates the lead.
import {
  completeChallenge,
  consumeAttemptById,
  consumeAttemptOfOwnCode,
  findChallenge,
  findChallengeById,
  refundAttempt,
  type Challenge,
} from '#server/codes/challenges.ts';
import { markCodeUsed, endCodes, newestCodesOf, type Code } from '#server/codes/codes.ts';
import { findCode } from '#server/codes/digits.ts';
import { acquireLocks, type Db, type OpenDatabase } from '#server/db/engine/connect.ts';
import { newIdAt } from '#server/db/engine/ids.ts';
import { findLeadId, mergeLead } from '#server/db/tables/leads.ts';
import { liftSuppressions } from '#server/db/tables/suppressions.ts';
import { codeEnteredFor } from '#server/leads/code-screen.ts';
import type { Limits } from '#server/limits/limits.ts';
import { queueGuideMail } from '#server/mail/templates/guide-mail.ts';
import { queueNewLeadMail } from '#server/mail/templates/new-lead-mail.ts';
import { pseudonymsOf, type Secrets } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';
import { MAX_ACCEPTED_CODES } from '#server/settings/fixed-limits.ts';
import type { Webhooks } from '#server/webhooks/webhooks.ts';
import type { OwnField } from '#shared/campaign-schema.ts';
import type { ApiErrorCode } from '#shared/errors.ts';
import { asciiAddress, normaliseEmail, type Verification } from '#shared/lead.ts';

type Verified = {
  readonly type: 'verified';
  readonly leadId: string;
  /** Null if the code had been used before. */
  readonly codeAgeMs: number | null;
  /** The lead's first reading of the article is stored. False if unknown, because recording it again changes nothing. */
  readonly isReadingRecorded: boolean;
};

type Refused = { readonly type: 'refused' } & (
  | { readonly error: Extract<ApiErrorCode, 'wrong-code'> }
  | { readonly error: Extract<ApiErrorCode, 'too-many-requests'>; readonly retryAfterSeconds: number }
  | {
      readonly error: Extract<ApiErrorCode, 'too-many-tries' | 'too-many-tries-without-cookies'>;
      /** For the Retry-After header, so at least 1. */
      readonly retryAfterSeconds: number;
      /** For the sentence that the visitor reads; 0 means now. */
      readonly newCodeInSeconds: number;
    }
);

const WRONG_CODE: Refused = { type: 'refused', error: 'wrong-code' };

type VerifyingVisitor = {
  readonly browserId: string | null;
  readonly clientAddress: string;
  /** The page shows the article as soon as the code is accepted. */
  readonly readsArticle: boolean;
};

type VerifyParts = {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly limits: Limits;
  readonly webhooks: Pick<Webhooks, 'queue'>;
  readonly config: Pick<Config, 'guideEmail' | 'newLeadEmail' | 'operatorEmails'>;
  readonly campaign: { readonly form: { readonly fields: readonly OwnField[] } };
};

/**
 * Wrong, expired, unknown and used codes get the same response. Exception: the browser that used a code may enter it again,
 * because the response may have been lost.
 */
export async function verifyCode(
  parts: VerifyParts,
  { email: typedEmail, code: digits }: Verification,
  visitor: VerifyingVisitor,
  now: number,
): Promise<Verified | Refused> {
  const { db } = parts.database;
  const email = normaliseEmail(typedEmail);

  const attempt = await consumeAttempt(db, email, visitor, now, parts);
  if (attempt.type === 'refused') return attempt;
  // Takes at least the time of comparing MAX_ACCEPTED_CODES, so timing doesn't reveal whether the e-mail address has codes.
  const code = findCode(parts.secrets, attempt.candidates, digits, MAX_ACCEPTED_CODES);
  if (code === null) {
    // `wrong_attempts` includes this attempt. After the last one, other browsers must not continue to guess these codes. Without a
    // limit (0), this never happens.
    if (attempt.budget === 'own' && attempt.challenge.wrong_attempts === parts.limits.attemptsPerChallenge)
      await withEmailLocked(db, email, (tx) =>
        endCodes(tx, 'codes', { submission_id: attempt.challenge.id }, now),
      );
    return attempt.refusalIfWrong;
  }
  return withEmailLocked(db, email, async (tx) => {
    const outcome = await completeByCode(tx, code, attempt, visitor, now, parts);
    // A right code costs no attempt. The browser's own is refunded by completeChallenge or findVerifiedLead.
    if (outcome.type === 'verified' && attempt.budget === 'shared') {
      await parts.limits.refundSharedAttempt(tx, email, attempt, now);
      if (attempt.chargedChallenge !== undefined) await refundAttempt(tx, attempt.chargedChallenge.id);
    }
    return outcome;
  });
}

const withEmailLocked = <Result>(db: Db, email: string, work: (tx: Db) => Promise<Result>): Promise<Result> =>
  db.transaction().execute(async (tx) => {
    await acquireLocks(tx, email);
    return work(tx);
  });

/** A consumed attempt: the browser's own, or one of those that all other browsers share. */
type Attempt = {
  readonly type: 'consumed';
  readonly candidates: readonly Code[];
  readonly refusalIfWrong: Refused;
} & (
  | { readonly budget: 'own'; readonly challenge: Challenge }
  | {
      readonly budget: 'shared';
      /** The browser's challenge: open without its own code, or verified. */
      readonly challenge: Challenge | undefined;
      /** The newest live codes are candidates. Tells refundSharedAttempt which counts to refund. */
      readonly mayCompare: boolean;
      /**
       * The browser's verified challenge, if it had an attempt left. It was consumed too, because the shared attempts don't limit
       * how often the used code is compared.
       */
      readonly chargedChallenge: Challenge | undefined;
    }
);

/**
 * The browser's challenge decides which attempt is consumed and which codes are compared:
 * - Open, with its own code: one of its attempts, and its newest codes. Refused if its attempts are used up.
 * - Open, but it shares the code of another browser (challenges.ts): an attempt that all such browsers share, and the newest codes
 *   of the e-mail address.
 * - None (another device, or somebody else): the same.
 * - Verified: the same, and also the code that this browser entered, because the response may have been lost.
 */
async function consumeAttempt(
  db: Db,
  email: string,
  visitor: VerifyingVisitor,
  now: number,
  { limits }: VerifyParts,
): Promise<Attempt | Refused> {
  const { browserId } = visitor;
  const own = await db.transaction().execute((tx) => consumeOwnAttempt(tx, email, visitor, now, limits));
  if (own !== undefined) return own;
  // The browser has no open challenge with its own code, or has used up its attempts. Shared attempts are read before they are
  // counted, so they need the lock. PostgreSQL may have kept the challenge locked until the transaction above ended.
  return withEmailLocked(db, email, async (tx) => {
    const open = browserId === null ? undefined : await findChallenge(tx, 'open', { browserId, email, now });
    return open !== undefined && limits.isExhausted(open)
      ? refuseExhausted(tx, open, now, limits)
      : consumeSharedAttempt(tx, email, { browserId, open }, now, limits);
  });
}

async function consumeOwnAttempt(
  tx: Db,
  email: string,
  { browserId, clientAddress }: VerifyingVisitor,
  now: number,
  limits: Limits,
): Promise<Attempt | Refused | undefined> {
  const networkLimit = await limits.countAttemptOfNetwork(tx, clientAddress, now);
  if (networkLimit.type === 'exceeded')
    return { ...networkLimit, type: 'refused', error: 'too-many-requests' };
  const maxAttempts = limits.attemptsPerChallenge;
  const own =
    browserId === null
      ? undefined
      : await consumeAttemptOfOwnCode(tx, { browserId, email, maxAttempts, now });
  if (own === undefined) return undefined;
  const codes = await newestCodesOf(tx, { challengeId: own.id }, { unexpiredAt: now }, now);
  return {
    type: 'consumed',
    budget: 'own',
    challenge: own,
    candidates: newestUnusedCodes(codes),
    refusalIfWrong: WRONG_CODE,
  };
}

/** @param codes newest first */
const newestUnusedCodes = (codes: readonly Code[]): readonly Code[] =>
  codes.filter((code) => code.used_at === null).slice(0, MAX_ACCEPTED_CODES);

async function refuseExhausted(tx: Db, { email }: Challenge, now: number, limits: Limits): Promise<Refused> {
  const codeLimit = limits.checkCodesSent(await limits.readCodesSent(tx, email, now), now);
  const newCodeInSeconds = codeLimit.type === 'exceeded' ? codeLimit.retryAfterSeconds : 0;
  return {
    type: 'refused',
    error: 'too-many-tries',
    retryAfterSeconds: Math.max(1, newCodeInSeconds),
    newCodeInSeconds,
  };
}

async function consumeSharedAttempt(
  tx: Db,
  email: string,
  { browserId, open }: { readonly browserId: string | null; readonly open: Challenge | undefined },
  now: number,
  limits: Limits,
): Promise<Attempt> {
  const codes = await newestCodesOf(tx, { emails: [email] }, { unexpiredAt: now }, now);
  const live = newestUnusedCodes(codes);
  const hasLiveCodes = live.length > 0;
  // Also without live codes, so the response doesn't reveal whether any exist.
  const { mayCompare, limitIfWrong } = await limits.consumeSharedAttempt(tx, email, { hasLiveCodes }, now);
  const verified =
    browserId === null || open !== undefined
      ? undefined
      : await findChallenge(tx, 'verified', { browserId, email, now });
  const maxAttempts = limits.attemptsPerChallenge;
  const chargedChallenge =
    verified !== undefined && (await consumeAttemptById(tx, 'submissions', { id: verified.id, maxAttempts }))
      ? verified
      : undefined;
  const entered = chargedChallenge && codeEnteredFor(codes, chargedChallenge);
  return {
    type: 'consumed',
    budget: 'shared',
    // The verified one even without an attempt left: if another request now uses the live code, markCodeUsed fails, and
    // completeByCode finds the lead.
    challenge: open ?? verified,
    mayCompare,
    chargedChallenge,
    candidates: [...(mayCompare ? live : []), ...(entered === undefined ? [] : [entered])],
    refusalIfWrong:
      limitIfWrong.type === 'exceeded'
        ? {
            ...limitIfWrong,
            type: 'refused',
            error: browserId === null ? 'too-many-tries-without-cookies' : 'too-many-tries',
            // The true time would tell anyone how many codes were sent to this e-mail address.
            newCodeInSeconds: 0,
          }
        : WRONG_CODE,
  };
}

/**
 * Completes a challenge by its code, with the e-mail address locked:
 * - The browser has an open challenge: completes this one, even if the code was mailed for another browser's challenge.
 * - It has none, or a verified one and an unused code: completes the challenge for which the code was mailed.
 * - The code was used, or the challenge is no longer open: completes nothing and finds the lead (findVerifiedLead).
 * Completing creates or updates the lead and adds its receipts (mergeLead).
 */
async function completeByCode(
  tx: Db,
  code: Code,
  { budget, challenge: browsersChallenge }: Pick<Attempt, 'budget' | 'challenge'>,
  visitor: VerifyingVisitor,
  now: number,
  parts: VerifyParts,
): Promise<Verified | Refused> {
  // The browser has verified before, and now enters an unused code of another challenge.
  const entersNewCode =
    browsersChallenge !== undefined && browsersChallenge.verified_at !== null && code.used_at === null;
  // The code is entered in the browser that sent the form.
  const sameBrowser = browsersChallenge !== undefined && !entersNewCode;
  const challengeId = sameBrowser ? browsersChallenge.id : code.submission_id;
  // Never true here: only an erased person's codes lack a challenge, and they have no e-mail address to find them by.
  if (challengeId === null) return WRONG_CODE;
  if (!(await markCodeUsed(tx, 'codes', code.id, now))) {
    // Without a challenge, a used code is wrong. Otherwise this browser used it before and the response was lost, or another tab
    // used it a moment ago.
    return browsersChallenge === undefined
      ? WRONG_CODE
      : findVerifiedLead(tx, code.email, browsersChallenge.id, budget, null);
  }
  const suppressionKeys = { keys: pseudonymsOf(parts.secrets, code.email), email: code.email };
  const attemptsToRefund = budget === 'own' ? 1 : 0;
  const completed = await completeChallenge(tx, { id: challengeId, attemptsToRefund, suppressionKeys }, now);
  // Saves a statement: a challenge with a single code has no other to end.
  const hasNoOtherCode = completed?.codes_sent === 1 && completed.id === code.submission_id;
  // Ends the codes of this code's challenge. If another challenge was completed, that one had no code. A code that it got a moment
  // ago would find the same lead.
  if (code.submission_id !== null && !hasNoOtherCode)
    await endCodes(tx, 'codes', { submission_id: code.submission_id }, now);
  const codeAgeMs = now - code.created_at;
  // Another tab completed the challenge a moment ago with another of its codes, or the person was erased.
  if (completed === undefined) return findVerifiedLead(tx, code.email, challengeId, budget, codeAgeMs);
  // The person has just consented again, and proved it.
  if (completed.is_suppressed) await liftSuppressions(tx, suppressionKeys);
  return { ...(await mergeLeadAndNotify(tx, completed, sameBrowser, visitor, now, parts)), codeAgeMs };
}

/** Finds the lead of a challenge that another request has completed, and refunds the attempt. */
async function findVerifiedLead(
  tx: Db,
  email: string,
  challengeId: string,
  budget: Attempt['budget'],
  codeAgeMs: number | null,
): Promise<Verified | Refused> {
  const challenge = await findChallengeById(tx, challengeId);
  if (challenge === undefined || challenge.verified_at === null) return WRONG_CODE;
  const leadId = await findLeadId(tx, email);
  if (leadId === undefined) return WRONG_CODE;
  if (budget === 'own') await refundAttempt(tx, challengeId);
  return { type: 'verified', leadId, codeAgeMs, isReadingRecorded: false };
}

/** Creates or updates the lead, and queues the guide's mail, the webhook events and the operator's mail. */
async function mergeLeadAndNotify(
  tx: Db,
  challenge: Challenge,
  sameBrowser: boolean,
  { clientAddress, readsArticle }: VerifyingVisitor,
  now: number,
  { campaign, config, webhooks }: VerifyParts,
): Promise<Omit<Verified, 'codeAgeMs'>> {
  const newId = newIdAt(now);
  const { id: leadId, first_read_at: firstReadAt } = await mergeLead(tx, challenge, {
    newLeadId: newId,
    verifiedFromAddress: clientAddress,
    sameBrowser,
    askedFieldIds: campaign.form.fields.map(({ id }) => id),
    firstReadAt: readsArticle ? now : null,
    now,
  });
  if (config.guideEmail !== 'off') {
    const recipient = asciiAddress(challenge.email_typed) ?? challenge.email;
    await queueGuideMail(tx, { id: newIdAt(now), leadId, recipient, now });
  }
  const isNew = leadId === newId;
  await webhooks.queue(tx, { type: isNew ? 'lead.verified' : 'lead.updated', leadId, now });
  // mergeLead stores the reading only for a new lead. For a known one, routes.ts records it.
  if (isNew && firstReadAt !== null) await webhooks.queue(tx, { type: 'lead.read', leadId, now });
  if (config.newLeadEmail === 'each' && isNew)
    await queueNewLeadMail(tx, { leadId, recipients: config.operatorEmails, now });
  return { type: 'verified', leadId, isReadingRecorded: firstReadAt !== null };
}

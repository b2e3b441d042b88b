// The first transaction counts the attempt and commits before the comparison, so parallel attempts gain nothing; the second
// opens the lead.
import {
  completeChallenge,
  countAttemptById,
  countAttemptOfBrowser,
  findChallenge,
  findChallengeById,
  giveAttemptBack,
  type Challenge,
} from '#server/codes/challenges.ts';
import { acceptCode, endCodes, newestCodesOf, type Code } from '#server/codes/codes.ts';
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
import { ACCEPTED_CODES } from '#server/settings/fixed-limits.ts';
import type { Webhooks } from '#server/webhooks/webhooks.ts';
import type { OwnField } from '#shared/campaign-schema.ts';
import type { ApiErrorCode } from '#shared/errors.ts';
import { asciiAddress, normaliseEmail, type Verification } from '#shared/lead.ts';

type Verified = {
  readonly type: 'verified';
  readonly leadId: string;
  /** Time from the request for this code to its entry; null if the code had been used before. */
  readonly sinceFormMs: number | null;
  /** The lead's first reading of the article is already stored. */
  readonly isReadingRecorded: boolean;
};

type Refused = { readonly type: 'refused' } & (
  | { readonly error: Extract<ApiErrorCode, 'wrong-code'> }
  | { readonly error: Extract<ApiErrorCode, 'too-many-requests'>; readonly retryAfterSeconds: number }
  | {
      readonly error: Extract<ApiErrorCode, 'too-many-tries' | 'too-many-tries-without-cookies'>;
      readonly retryAfterSeconds: number;
      /** 0 means now. */
      readonly newCodeInSeconds: number;
    }
);

const WRONG_CODE: Refused = { type: 'refused', error: 'wrong-code' };

type Visitor = {
  readonly browserId: string | null;
  readonly clientAddress: string;
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
 * Wrong, expired, used and unknown codes get the same response. A browser may enter its code again, because the response may
 * have been lost.
 */
export async function verifyCode(
  parts: VerifyParts,
  { email: typedEmail, code: digits }: Verification,
  visitor: Visitor,
  now: number,
): Promise<Verified | Refused> {
  const { db } = parts.database;
  const email = normaliseEmail(typedEmail);

  const counted = await db.transaction().execute((tx) => countEntry(tx, email, visitor, now, parts));
  if (counted.type === 'refused') return counted;
  const code = findCode(parts.secrets, counted.candidates, digits, ACCEPTED_CODES);
  if (code !== null)
    return withAddressLocked(db, email, async (tx) => {
      const outcome = await completeByCode(tx, code, counted, visitor, now, parts);
      // A right code uses up no attempt.
      if (outcome.type === 'verified' && counted.by === 'address') {
        // `mayCompare` tells which of the two pairs of counters it was added to (limits.ts).
        await parts.limits.giveSharedAttemptBack(tx, email, counted.mayCompare, now);
        if (counted.countedOnVerified !== undefined) await giveAttemptBack(tx, counted.countedOnVerified.id);
      }
      return outcome;
    });

  // This was the last attempt. Browsers without a challenge must not continue to guess these codes.
  if (counted.by === 'challenge' && counted.challenge.wrong_attempts === parts.limits.attemptsPerChallenge)
    await withAddressLocked(db, email, (tx) =>
      endCodes(tx, 'codes', { submission_id: counted.challenge.id }, now),
    );
  return counted.ifWrong;
}

const withAddressLocked = <Result>(
  db: Db,
  email: string,
  work: (tx: Db) => Promise<Result>,
): Promise<Result> =>
  db.transaction().execute(async (tx) => {
    await acquireLocks(tx, email);
    return work(tx);
  });

/** An attempt counted for the browser's own challenge, or among those that all other browsers share. */
type Counted = {
  readonly type: 'counted';
  readonly candidates: readonly Code[];
  readonly ifWrong: Refused;
} & (
  | { readonly by: 'challenge'; readonly challenge: Challenge }
  | {
      readonly by: 'address';
      readonly challenge: Challenge | undefined;
      readonly mayCompare: boolean;
      /** The browser's verified challenge, if it had an attempt left for this entry. */
      readonly countedOnVerified: Challenge | undefined;
    }
);

/**
 * Decides which attempt is counted and which codes are compared:
 * - The browser has an open challenge with attempts left: its attempt, and the challenge's newest codes.
 * - Its attempts are used up: refused, if a code was mailed for this challenge.
 * - It has no challenge (another device, a stranger), or one for which no code was mailed because the e-mail address had just
 *   got one: an attempt that all such browsers share, and the newest codes of the e-mail address.
 * - Its challenge is verified: as with no challenge, and also the code that it has entered, whose response may have been lost.
 */
async function countEntry(
  tx: Db,
  email: string,
  { browserId, clientAddress }: Visitor,
  now: number,
  { limits }: VerifyParts,
): Promise<Counted | Refused> {
  const networkLimit = await limits.countEntryOfNetwork(tx, clientAddress, now);
  if (networkLimit.type === 'exceeded')
    return { ...networkLimit, type: 'refused', error: 'too-many-requests' };
  const maxAttempts = limits.attemptsPerChallenge;
  const own =
    browserId === null ? undefined : await countAttemptOfBrowser(tx, { browserId, email, maxAttempts, now });
  if (own !== undefined) {
    const codes = await newestCodesOf(tx, { challengeId: own.id }, { unexpiredAt: now }, now);
    return {
      type: 'counted',
      by: 'challenge',
      challenge: own,
      candidates: comparableCodes(codes),
      ifWrong: WRONG_CODE,
    };
  }
  // A browser's own attempt is counted by one statement, unless no code was mailed for its challenge. Shared attempts depend on
  // the live codes of the e-mail address, so they need the lock.
  await acquireLocks(tx, email);
  const open = browserId === null ? undefined : await findChallenge(tx, 'open', { browserId, email, now });
  return limits.isExhausted(open)
    ? refuseExhausted(tx, open, now, limits)
    : countForAddress(tx, email, { browserId, open }, now, limits);
}

/** @param codes newest first */
const comparableCodes = (codes: readonly Code[]): readonly Code[] =>
  codes.filter((code) => code.used_at === null).slice(0, ACCEPTED_CODES);

async function refuseExhausted(tx: Db, { email }: Challenge, now: number, limits: Limits): Promise<Refused> {
  const nextCode = limits.checkCodesSent(await limits.readCodesSent(tx, email, now), now);
  const newCodeInSeconds = nextCode.type === 'exceeded' ? nextCode.retryAfterSeconds : 0;
  return {
    type: 'refused',
    error: 'too-many-tries',
    retryAfterSeconds: Math.max(1, newCodeInSeconds),
    newCodeInSeconds,
  };
}

async function countForAddress(
  tx: Db,
  email: string,
  { browserId, open }: { readonly browserId: string | null; readonly open: Challenge | undefined },
  now: number,
  limits: Limits,
): Promise<Counted> {
  const codes = await newestCodesOf(tx, { emails: [email] }, { unexpiredAt: now }, now);
  const live = comparableCodes(codes);
  const atLiveCodes = live.length > 0;
  const { mayCompare, ifWrong: limit } = await limits.countSharedAttempt(tx, email, { atLiveCodes }, now);
  // The response to a right code may have been lost, so its browser may enter it again.
  const verified =
    browserId === null || open !== undefined
      ? undefined
      : await findChallenge(tx, 'verified', { browserId, email, now });
  const maxAttempts = limits.attemptsPerChallenge;
  const countedOnVerified =
    verified !== undefined && (await countAttemptById(tx, 'submissions', { id: verified.id, maxAttempts }))
      ? verified
      : undefined;
  const entered = countedOnVerified && codeEnteredFor(codes, countedOnVerified);
  return {
    type: 'counted',
    by: 'address',
    // The verified one even without an attempt left: if another request uses the code meanwhile, completeByCode still finds the lead.
    challenge: open ?? verified,
    mayCompare,
    countedOnVerified,
    candidates: [...(mayCompare ? live : []), ...(entered === undefined ? [] : [entered])],
    ifWrong:
      limit.type === 'exceeded'
        ? {
            ...limit,
            type: 'refused',
            error: browserId === null ? 'too-many-tries-without-cookies' : 'too-many-tries',
            // The true time would reveal to a stranger how many codes were sent.
            newCodeInSeconds: 0,
          }
        : WRONG_CODE,
  };
}

/**
 * Completes a challenge, with the e-mail address locked:
 * - The browser has an open challenge: that one, even if the code was mailed for another browser's.
 * - It has none, or has verified its own and enters a new code: the challenge that the code was mailed for.
 * - The code has been entered before, or the challenge is no longer open: nothing is completed (findLeadAgain).
 * The first entry creates or updates the lead and adds the receipt (mergeLead); later ones find the lead.
 */
async function completeByCode(
  tx: Db,
  code: Code,
  { by, challenge: browsersChallenge }: Pick<Counted, 'by' | 'challenge'>,
  visitor: Visitor,
  now: number,
  parts: VerifyParts,
): Promise<Verified | Refused> {
  const entersNewCode =
    browsersChallenge !== undefined && browsersChallenge.verified_at !== null && code.used_at === null;
  const isForBrowser = browsersChallenge !== undefined && !entersNewCode;
  const idToComplete = isForBrowser ? browsersChallenge.id : code.submission_id;
  // The person was erased.
  if (idToComplete === null) return WRONG_CODE;
  if (!(await acceptCode(tx, 'codes', code.id, now))) {
    // This browser entered the code before and its response was lost, or another tab entered it a moment ago.
    return browsersChallenge === undefined
      ? WRONG_CODE
      : findLeadAgain(tx, code.email, browsersChallenge.id, by, null);
  }
  const listedAddress = { keys: pseudonymsOf(parts.secrets, code.email), email: code.email };
  const attemptsToGiveBack = by === 'challenge' ? 1 : 0;
  const completed = await completeChallenge(tx, { id: idToComplete, attemptsToGiveBack, listedAddress }, now);
  // Saves a statement: a challenge with a single code has no other to end.
  const hasNoOtherCode = completed?.codes_sent === 1 && completed.id === code.submission_id;
  // The code may be another challenge's. Then the completed one has none, because no code was mailed for it (countEntry).
  if (code.submission_id !== null && !hasNoOtherCode)
    await endCodes(tx, 'codes', { submission_id: code.submission_id }, now);
  const sinceFormMs = now - code.created_at;
  // Another tab completed the challenge a moment ago, with another of its codes.
  if (completed === undefined) return findLeadAgain(tx, code.email, idToComplete, by, sinceFormMs);
  if (completed.is_suppressed) await liftSuppressions(tx, listedAddress);
  return { ...(await mergeLeadAndNotify(tx, completed, isForBrowser, visitor, now, parts)), sinceFormMs };
}

/** Finds the lead again, if the challenge is verified. */
async function findLeadAgain(
  tx: Db,
  email: string,
  challengeId: string,
  by: Counted['by'],
  sinceFormMs: number | null,
): Promise<Verified | Refused> {
  const challenge = await findChallengeById(tx, challengeId);
  if (challenge === undefined || challenge.verified_at === null) return WRONG_CODE;
  const leadId = await findLeadId(tx, email);
  if (leadId === undefined) return WRONG_CODE;
  if (by === 'challenge') await giveAttemptBack(tx, challengeId);
  return { type: 'verified', leadId, sinceFormMs, isReadingRecorded: false };
}

/** Creates or updates the lead, and queues the guide, the webhooks and the operator's mail. */
async function mergeLeadAndNotify(
  tx: Db,
  challenge: Challenge,
  isSameBrowser: boolean,
  { clientAddress, readsArticle }: Visitor,
  now: number,
  { campaign, config, webhooks }: VerifyParts,
): Promise<Omit<Verified, 'sinceFormMs'>> {
  const newId = newIdAt(now);
  // firstReadAt is stored only for a new lead. A known lead keeps its time, or null.
  const { id: leadId, first_read_at: firstReadAt } = await mergeLead(tx, challenge, {
    leadId: newId,
    verifiedFromAddress: clientAddress,
    sameBrowser: isSameBrowser,
    asked: campaign.form.fields.map(({ id }) => id),
    firstReadAt: readsArticle ? now : null,
    now,
  });
  if (config.guideEmail !== 'off') {
    const recipient = asciiAddress(challenge.email_typed) ?? challenge.email;
    await queueGuideMail(tx, { id: newIdAt(now), leadId, recipient, now });
  }
  const isNew = leadId === newId;
  await webhooks.queue(tx, { type: isNew ? 'lead.verified' : 'lead.updated', leadId, now });
  // For a known lead, routes.ts records the reading.
  if (isNew && firstReadAt !== null) await webhooks.queue(tx, { type: 'lead.read', leadId, now });
  if (config.newLeadEmail === 'each' && isNew)
    await queueNewLeadMail(tx, { leadId, recipients: config.operatorEmails, now });
  return { type: 'verified', leadId, isReadingRecorded: firstReadAt !== null };
}

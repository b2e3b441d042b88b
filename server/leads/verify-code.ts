// Takes a code in two transactions. The first counts the attempt and is committed before anything is compared, so parallel attempts win
// no extra guess. The second opens the lead.
import { randomUUIDv7 } from 'node:crypto';

import { v7 as uuid } from 'uuid';

import {
  closeChallenge,
  countAttempt,
  countAttemptAt,
  findChallenge,
  findChallengeById,
  giveAttemptBack,
  hasCodeOfItsOwn,
  type Challenge,
} from '#server/codes/challenges.ts';
import { codesOfAddress, codesOfChallenge, endCodes, acceptCode, type Code } from '#server/codes/codes.ts';
import { findCode } from '#server/codes/digits.ts';
import { lockAddress } from '#server/db/engine/address-lock.ts';
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { findLeadId, mergeLead } from '#server/db/tables/leads.ts';
import { liftSuppressions } from '#server/db/tables/suppressions.ts';
import { codeEnteredFor } from '#server/leads/code-screen.ts';
import type { Limits } from '#server/limits/limits.ts';
import { queueGuideMail } from '#server/mail/templates/guide-mail.ts';
import { queueNewLeadMail } from '#server/mail/templates/new-lead-mail.ts';
import { pseudonymsOf } from '#server/secrets/pseudonyms.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';
import { ACCEPTED_CODES } from '#server/settings/fixed-limits.ts';
import type { Webhooks } from '#server/webhooks/webhooks.ts';
import type { OwnField } from '#shared/campaign-schema.ts';
import type { ApiErrorCode } from '#shared/errors.ts';
import { asciiAddress, normaliseEmail, type Verification } from '#shared/lead.ts';

type Verified = {
  readonly type: 'verified';
  readonly leadId: string;
  /** From the mailing of the code to its entry; null if it had been entered before. */
  readonly afterMs: number | null;
  /** True: it is recorded that this lead was given the article, now or before. False: it may not be. */
  readonly isReadingNoted: boolean;
};

type Refused =
  | { readonly type: 'refused'; readonly error: Extract<ApiErrorCode, 'wrong-code'> }
  | {
      readonly type: 'refused';
      readonly error: Extract<ApiErrorCode, 'too-many-requests'>;
      readonly retryAfterSeconds: number;
    }
  | {
      readonly type: 'refused';
      readonly error: Extract<ApiErrorCode, 'too-many-tries' | 'too-many-tries-without-cookies'>;
      /** Until this very request can be made again. */
      readonly retryAfterSeconds: number;
      /** Until a new code can be asked for; 0: now. */
      readonly newCodeInSeconds: number;
    };

const WRONG_CODE: Refused = { type: 'refused', error: 'wrong-code' };

/** Who enters a code. */
type Visitor = {
  /** From the challenge cookie; null without one. */
  readonly browserId: string | null;
  readonly clientAddress: string;
  /** Whether the article goes with the response. */
  readonly getsArticle: boolean;
};

/** What the operator set and opened. */
type VerifyParts = {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly limits: Limits;
  readonly webhooks: Pick<Webhooks, 'queue'>;
  readonly config: Pick<Config, 'guideEmail' | 'newLeadEmail' | 'operatorEmail'>;
  readonly campaign: { readonly form: { readonly fields: readonly OwnField[] } };
};

/**
 * Handles a validated verification. Wrong, expired, used and unknown codes get the same response.
 *
 * A challenge for which a code was mailed has its own attempts, which no stranger can use up; it accepts the two newest live codes mailed
 * for it. Everything else (no cookie, or a challenge that shares another one's code) shares a few attempts for the e-mail address
 * (settings/fixed-limits.ts). The browser that has entered a code may enter it again: its response may have been lost.
 */
export async function verifyCode(
  parts: VerifyParts,
  { email: typedEmail, code: digits }: Verification,
  visitor: Visitor,
  now: number,
): Promise<Verified | Refused> {
  const { db, engine } = parts.database;
  const email = normaliseEmail(typedEmail);

  const counted = await db.transaction().execute((tx) => countEntry(tx, email, visitor, now, parts));
  if (counted.type === 'refused') return counted;
  const code = findCode(
    parts.secrets,
    counted.candidates.map((candidate) => ({ ...candidate, secretId: candidate.secret_id })),
    digits,
    ACCEPTED_CODES,
  );
  if (code !== null)
    return db.transaction().execute(async (tx) => {
      await lockAddress(tx, engine, email);
      const outcome = await enter(tx, code, counted, visitor, now, parts);
      if (outcome.type === 'verified' && counted.by === 'address')
        await parts.limits.forgiveSharedAttempt(tx, email, counted.mayCompare, now);
      return outcome;
    });

  if (counted.by === 'challenge' && counted.challenge.wrong_attempts === parts.limits.attemptsPerChallenge)
    await db.transaction().execute(async (tx) => {
      await lockAddress(tx, engine, email);
      // No screen asks for a code that cannot be entered.
      await endCodes(tx, 'codes', { submission_id: counted.challenge.id }, now);
    });
  return counted.ifWrong;
}

/** An attempt that has been counted. */
type Counted = {
  readonly type: 'counted';
  /** What the digits may be compared with. */
  readonly candidates: readonly Code[];
  /** The outcome if none of them fits. */
  readonly ifWrong: Refused;
} & (
  | { readonly by: 'challenge'; readonly challenge: Challenge }
  | {
      readonly by: 'address';
      /** One without a code of its own, or one that is verified already. */
      readonly challenge: Challenge | undefined;
      readonly mayCompare: boolean;
    }
);

/** Counts an attempt for its network, and for its challenge or its e-mail address. */
async function countEntry(
  tx: Db,
  email: string,
  { browserId, clientAddress }: Visitor,
  now: number,
  { database, limits }: VerifyParts,
): Promise<Counted | Refused> {
  const entries = await limits.verifyFromNetwork(tx, clientAddress, now);
  if (entries.type === 'exceeded') return { ...entries, type: 'refused', error: 'too-many-requests' };
  const most = limits.attemptsPerChallenge;
  const own = browserId === null ? undefined : await countAttempt(tx, { browserId, email, most, now });
  if (own !== undefined) {
    const codes = await codesOfChallenge(tx, own.id, now, now);
    return {
      type: 'counted',
      by: 'challenge',
      challenge: own,
      candidates: acceptedOf(codes),
      ifWrong: WRONG_CODE,
    };
  }
  // From here on nobody else enters a code of this e-mail address.
  await lockAddress(tx, database.engine, email);
  const open = browserId === null ? undefined : await findChallenge(tx, 'open', { browserId, email, now });
  return hasCodeOfItsOwn(open) && limits.isExhausted(open)
    ? withoutAttempts(tx, open, now, limits)
    : countSharedAttempt(tx, email, { browserId, open }, now, limits);
}

/** The two newest live codes. @param codes that have not expired, newest first */
const acceptedOf = (codes: readonly Code[]): readonly Code[] =>
  codes.filter((code) => code.used_at === null).slice(0, ACCEPTED_CODES);

/** Only a new code helps, as soon as one may be sent. */
async function withoutAttempts(tx: Db, { email }: Challenge, now: number, limits: Limits): Promise<Refused> {
  const sends = limits.sendToAddress(await limits.codesOfAddress(tx, email, now), now);
  const newCodeInSeconds = sends.type === 'exceeded' ? sends.retryAfterSeconds : 0;
  return {
    type: 'refused',
    error: 'too-many-tries',
    retryAfterSeconds: Math.max(1, newCodeInSeconds),
    newCodeInSeconds,
  };
}

/** Counts an attempt that is shared by all browsers without a code of their own. */
async function countSharedAttempt(
  tx: Db,
  email: string,
  { browserId, open }: { readonly browserId: string | null; readonly open: Challenge | undefined },
  now: number,
  limits: Limits,
): Promise<Counted> {
  const codes = await codesOfAddress(tx, [email], { since: now }, now);
  const live = acceptedOf(codes);
  const atLiveCodes = live.length > 0;
  const { mayCompare, ifWrong } = await limits.countSharedAttempt(tx, email, { atLiveCodes }, now);
  // A code that this browser has entered already.
  const verified =
    browserId === null || open !== undefined
      ? undefined
      : await findChallenge(tx, 'verified', { browserId, email, now });
  const mayEnterAgain =
    verified !== undefined &&
    (await countAttemptAt(tx, 'submissions', { id: verified.id, most: limits.attemptsPerChallenge }));
  const entered = mayEnterAgain ? codeEnteredFor(codes, verified) : undefined;
  return {
    type: 'counted',
    by: 'address',
    challenge: open ?? verified,
    mayCompare,
    candidates: [...(mayCompare ? live : []), ...(entered === undefined ? [] : [entered])],
    // Whether a code may be sent is not looked up: a stranger would learn how many were.
    ifWrong:
      ifWrong.type === 'exceeded'
        ? {
            ...ifWrong,
            type: 'refused',
            error: browserId === null ? 'too-many-tries-without-cookies' : 'too-many-tries',
            newCodeInSeconds: 0,
          }
        : WRONG_CODE,
  };
}

/**
 * Enters a right code, while nobody else enters one of its e-mail address. The first entry of a challenge makes or updates the lead and
 * writes the receipt; those after it, from the same browser, find the lead.
 */
async function enter(
  tx: Db,
  code: Code,
  { by, challenge }: Pick<Counted, 'by' | 'challenge'>,
  visitor: Visitor,
  now: number,
  parts: VerifyParts,
): Promise<Verified | Refused> {
  const challengeId = challenge?.id ?? code.submission_id;
  // Erased a moment ago.
  if (challengeId === null) return WRONG_CODE;
  const attempts = by === 'challenge' ? 1 : 0;
  const of = { keys: pseudonymsOf(parts.secrets, code.email), email: code.email };
  const isFirst = await acceptCode(tx, 'codes', code.id, now);
  const afterMs = isFirst ? now - code.created_at : null;
  const closed = isFirst ? await closeChallenge(tx, { id: challengeId, attempts, of }, now) : undefined;
  if (
    isFirst &&
    code.submission_id !== null &&
    !(closed?.codes_sent === 1 && closed.id === code.submission_id)
  )
    await endCodes(tx, 'codes', { submission_id: code.submission_id }, now);
  if (closed !== undefined) {
    if (closed.is_suppressed) await liftSuppressions(tx, of);
    return { ...(await openLead(tx, closed, challenge !== undefined, visitor, now, parts)), afterMs };
  }

  const current = await findChallengeById(tx, challengeId);
  if (current === undefined || current.verified_at === null) return WRONG_CODE;
  // Verified before, perhaps by this browser. The code was right when it came.
  const leadId = isFirst || challenge !== undefined ? await findLeadId(tx, code.email) : undefined;
  if (leadId === undefined) return WRONG_CODE;
  // Counted for this challenge.
  if (by === 'challenge' || code.used_at !== null) await giveAttemptBack(tx, challengeId);
  return { type: 'verified', leadId, afterMs, isReadingNoted: false };
}

/** Makes or updates the lead of a verified challenge, with its receipt, and adds the mails and events that follow. */
async function openLead(
  tx: Db,
  challenge: Challenge,
  sameBrowser: boolean,
  { clientAddress, getsArticle }: Visitor,
  now: number,
  { campaign, config, webhooks }: VerifyParts,
): Promise<Omit<Verified, 'afterMs'>> {
  const newId = randomUUIDv7();
  const { id: leadId, first_read_at: firstReadAt } = await mergeLead(tx, challenge, {
    leadId: newId,
    // The sealer finds new receipts by their IDs.
    receiptId: uuid({ msecs: now }),
    verifiedFromAddress: clientAddress,
    sameBrowser,
    asked: campaign.form.fields.map(({ id }) => id),
    firstReadAt: getsArticle ? now : null,
    now,
  });
  if (config.guideEmail !== 'off') {
    const recipient = asciiAddress(challenge.email_typed) ?? challenge.email;
    await queueGuideMail(tx, { id: uuid({ msecs: now }), leadId, recipient, now });
  }
  const isNew = leadId === newId;
  await webhooks.queue(tx, { type: isNew ? 'lead.verified' : 'lead.updated', leadId, now });
  if (isNew && firstReadAt !== null) await webhooks.queue(tx, { type: 'lead.read', leadId, now });
  const { operatorEmail } = config;
  if (config.newLeadEmail === 'each' && operatorEmail !== null && isNew)
    await queueNewLeadMail(tx, { id: uuid({ msecs: now }), leadId, recipient: operatorEmail, now });
  return { type: 'verified', leadId, isReadingNoted: firstReadAt !== null };
}

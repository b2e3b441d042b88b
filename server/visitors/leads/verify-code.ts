// Takes a code. The try is counted in a committed transaction BEFORE the comparison, so parallel calls win no extra guess.
import { randomUUIDv7 } from 'node:crypto';

import { v7 as uuid } from 'uuid';

import { findCode } from '#server/secrets/one-time-code.ts';
import { pseudonymsOf } from '#server/secrets/pseudonyms.ts';
import {
  burnTry,
  closeChallenge,
  findChallengeById,
  findOpenChallengeFor,
  findVerifiedChallenge,
  hasCodeOfItsOwn,
  lockAddress,
  unburnTry,
  type Challenge,
} from '#server/db/tables/challenges.ts';
import {
  acceptedCodes,
  codeItWasVerifiedWith,
  endCodes,
  enterCode,
  type Code,
} from '#server/db/tables/codes.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { findLeadId, mergeLead } from '#server/db/tables/leads.ts';
import { liftSuppressions } from '#server/db/tables/suppressions.ts';
import { firstLikeNewestSubmission } from '#server/db/tables/submissions.ts';
import { ACCEPTED_CODES } from '#server/settings/fixed-limits.ts';
import { queueGuideMail } from '#server/mail/letters/guide-mail.ts';
import { queueNewLeadMail } from '#server/mail/letters/new-lead-mail.ts';
import type { VisitorContext } from '#server/visitors/visitor-context.ts';
import type { ApiErrorCode } from '#shared/errors.ts';
import { asciiAddress, normaliseEmail, type Verification } from '#shared/lead.ts';

export type VerifyCodeOutcome =
  | {
      readonly type: 'verified';
      readonly leadId: string;
      /** From the mailing of the code to its entry; null when it had been entered before. */
      readonly afterMs: number | null;
      /** True: it is recorded that this lead was given the article, now or before. False: it may not be. */
      readonly isReadingNoted: boolean;
    }
  | { readonly type: 'refused'; readonly error: Extract<ApiErrorCode, 'wrong-code'> }
  | {
      readonly type: 'refused';
      readonly error: Extract<ApiErrorCode, 'too-many-requests'>;
      readonly retryAfterSeconds: number;
    }
  | {
      readonly type: 'refused';
      readonly error: Extract<ApiErrorCode, 'too-many-tries' | 'too-many-tries-without-cookies'>;
      /** Until this very call can be made again. */
      readonly retryAfterSeconds: number;
      /** Until a new code can be asked for; 0: now. */
      readonly newCodeInSeconds: number;
    };

const WRONG_CODE: VerifyCodeOutcome = { type: 'refused', error: 'wrong-code' };

/** One call: the address, what was typed, its sender and the time. */
type Entry = {
  readonly email: string;
  readonly typedCode: string;
  readonly clientAddress: string;
  /** Whether the browser sent our cookie. Without one, a new code has no separate tries. */
  readonly hasCookie: boolean;
  /** Whether the article goes with the answer. */
  readonly sendsArticle: boolean;
  readonly now: number;
};

/** A try that has been counted. */
type CountedTry = {
  /** The codes that were live before it was counted, and may be compared with what was typed. */
  readonly compareWith: readonly Code[];
  /** The answer if none of them is right. */
  readonly ifWrong: VerifyCodeOutcome;
  /** Whether no try is left in the challenge. */
  readonly last: boolean;
};

/**
 * Handles a validated verification. Wrong, expired, used and unknown read the same.
 *
 * A challenge for which a code was mailed has its own tries, which no stranger can use up; it accepts the two
 * newest live codes mailed for it. Everything else (no cookie, or a challenge that rides on another one's code)
 * shares one small budget for the address (settings/fixed-limits.ts).
 *
 * @param call browserId: from the challenge cookie, null without one; sendsArticle: whether the article goes with the answer
 */
export async function verifyCode(
  context: VisitorContext,
  { email: typedEmail, code: typedCode }: Verification,
  {
    browserId,
    clientAddress,
    sendsArticle,
  }: { browserId: string | null; clientAddress: string; sendsArticle: boolean },
): Promise<VerifyCodeOutcome> {
  const { db } = context.database;
  const { limits } = context;
  const now = context.clock();
  const email = normaliseEmail(typedEmail);
  const hasCookie = browserId !== null;
  const entry: Entry = { email, typedCode, clientAddress, hasCookie, sendsArticle, now };

  // One transaction for all that is counted; nothing is compared before it is committed.
  const begun = await db.transaction().execute((tx) => countEntry(tx, context, { entry, browserId }));
  if (begun.type === 'refused') return begun;
  const { open, verified } = begun;
  const again = verified && (await enterAgain(context, verified, entry));
  if (again) return again;
  const counted =
    begun.counted ?? (await db.transaction().execute((tx) => countSharedTry(tx, context, entry)));
  const own = hasCodeOfItsOwn(open);
  const code = compare(context, counted.compareWith, typedCode);
  if (code === null) {
    // A faster call of the same browser may have verified it since we looked.
    const faster = open && browserId !== null && (await enterMeanwhile(context, browserId, entry));
    if (faster) return faster;
    if (own && counted.last) await endCodesOf(context, open, now);
    return counted.ifWrong;
  }

  return db.transaction().execute(async (tx) => {
    await lockAddress(tx, context.database.engine, email);
    const outcome = await openLead(tx, context, { challenge: open ?? verified?.challenge, own, code, entry });
    if (outcome.type === 'verified' && !own) await limits.forgiveTry(tx, email, now);
    return outcome;
  });
}

/** What was counted before anything is compared, and for whom. */
type CountedEntry =
  | Extract<VerifyCodeOutcome, { type: 'refused' }>
  | {
      readonly type: 'counted';
      readonly open: Challenge | undefined;
      /** Without an open one: the one that this browser has verified already. */
      readonly verified: VerifiedChallenge | undefined;
      /** Null as long as it may be the code that was entered before. */
      readonly counted: CountedTry | null;
    };

/** Counts an entry for its network, and for its challenge or its address. */
async function countEntry(
  tx: Db,
  context: VisitorContext,
  { entry, browserId }: { entry: Entry; browserId: string | null },
): Promise<CountedEntry> {
  const { email, clientAddress, now } = entry;
  const asks = await context.limits.verifyFromNetwork(tx, clientAddress, now);
  if (asks.type === 'exceeded') return { ...asks, type: 'refused', error: 'too-many-requests' };
  const open = browserId === null ? undefined : await findOpenChallengeFor(tx, { browserId, email, now });

  const verified =
    open === undefined && browserId !== null
      ? await countTryAgain(tx, context, { browserId, entry })
      : undefined;
  if (verified) return { type: 'counted', open, verified, counted: null };
  const counted = hasCodeOfItsOwn(open)
    ? await countOwnTry(tx, context, { challenge: open, now })
    : await countSharedTry(tx, context, entry);
  return { type: 'counted', open, verified, counted };
}

/** Compares in constant time, always as often. */
const compare = ({ secrets }: VisitorContext, codes: readonly Code[], typedCode: string): Code | null =>
  findCode(
    secrets,
    codes.map((code) => ({ ...code, secretId: code.secret_id })),
    typedCode,
    ACCEPTED_CODES,
  );

/** Counts a try on the budget of a challenge. */
async function countOwnTry(
  tx: Db,
  { limits }: VisitorContext,
  { challenge, now }: { challenge: Challenge; now: number },
): Promise<CountedTry> {
  const compareWith = await acceptedCodes(
    tx,
    { challenge, email: challenge.email, most: ACCEPTED_CODES },
    now,
  );
  const tries = await burnTry(tx, challenge.id, limits.triesPerChallenge);
  if (tries !== null) return { compareWith, ifWrong: WRONG_CODE, last: tries === limits.triesPerChallenge };
  // This challenge accepts no code any more: only a new code helps, as soon as one may be sent.
  const sends = await limits.sendToAddress(tx, challenge.email, now);
  const newCodeInSeconds = sends.type === 'exceeded' ? sends.retryAfterSeconds : 0;
  return {
    compareWith: [],
    ifWrong: {
      type: 'refused',
      error: 'too-many-tries',
      retryAfterSeconds: Math.max(1, newCodeInSeconds),
      newCodeInSeconds,
    },
    last: false,
  };
}

/** Ends the codes of a challenge without tries, so that no screen asks the visitor to enter one. */
async function endCodesOf(
  { database: { db, engine } }: VisitorContext,
  { id, email }: Challenge,
  now: number,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // One of them may be entered right now.
    await lockAddress(tx, engine, email);
    await endCodes(tx, id, now);
  });
}

/** Counts a try on the shared budget of the address. */
async function countSharedTry(
  tx: Db,
  { database: { engine }, limits }: VisitorContext,
  { email, hasCookie, now }: Entry,
): Promise<CountedTry> {
  await lockAddress(tx, engine, email);
  const live = await acceptedCodes(tx, { challenge: undefined, email, most: ACCEPTED_CODES }, now);
  const atLiveCodes = live.length > 0;
  const { mayCompare, ifWrong } = await limits.tryWithoutChallenge(tx, email, { atLiveCodes }, now);
  return {
    compareWith: mayCompare ? live : [],
    // Not looked up whether a code may be sent: a stranger would learn how many were.
    ifWrong:
      ifWrong.type === 'exceeded'
        ? {
            ...ifWrong,
            type: 'refused',
            error: hasCookie ? 'too-many-tries' : 'too-many-tries-without-cookies',
            newCodeInSeconds: 0,
          }
        : WRONG_CODE,
    last: false,
  };
}

/** A challenge that was verified, with the code that did it: null when none may be compared. A try has been counted. */
type VerifiedChallenge = { readonly challenge: Challenge; readonly code: Code | null };

/** Counts a try at the code that a browser entered already: its answer may have been lost. */
async function countTryAgain(
  tx: Db,
  { limits }: VisitorContext,
  { browserId, entry: { email, now } }: { browserId: string; entry: Entry },
): Promise<VerifiedChallenge | undefined> {
  const challenge = await findVerifiedChallenge(tx, { browserId, email, now });
  if (challenge === undefined) return undefined;
  const code = await codeItWasVerifiedWith(tx, challenge, now);
  const tries = await burnTry(tx, challenge.id, limits.triesPerChallenge);
  return { challenge, code: tries === null ? null : (code ?? null) };
}

/** The right code from a browser that entered it already. Null when it is anything else. */
async function enterAgain(
  context: VisitorContext,
  { challenge, code }: VerifiedChallenge,
  { email, typedCode }: Entry,
): Promise<VerifyCodeOutcome | null> {
  const { db } = context.database;
  if (compare(context, code === null ? [] : [code], typedCode) === null) return null;
  await unburnTry(db, challenge.id);
  const leadId = await findLeadId(db, email);
  return leadId === undefined ? null : { type: 'verified', leadId, afterMs: null, isReadingNoted: false };
}

/** {@link enterAgain} for a challenge that has been verified since it was found open; null when it has not. */
async function enterMeanwhile(
  context: VisitorContext,
  browserId: string,
  entry: Entry,
): Promise<VerifyCodeOutcome | null> {
  const { db } = context.database;
  const verified = await db.transaction().execute((tx) => countTryAgain(tx, context, { browserId, entry }));
  return verified ? enterAgain(context, verified, entry) : null;
}

/**
 * Makes or updates the lead after a right code. Parallel calls for one address run this one after the other, and the first
 * one of a challenge writes the receipt.
 * @param challenge of the browser that entered the code; undefined without one
 * @param own whether that challenge paid for the try, which it gets back
 */
async function openLead(
  tx: Db,
  { campaign, config, secrets, webhooks }: VisitorContext,
  {
    challenge,
    own,
    code,
    entry,
  }: { challenge: Challenge | undefined; own: boolean; code: Code; entry: Entry },
): Promise<VerifyCodeOutcome> {
  const { email, clientAddress, sendsArticle, now } = entry;
  const challengeId = challenge?.id ?? code.challenge_id;
  const entered = await enterCode(tx, code, now);
  const afterMs = entered ? now - code.created_at : null;
  // Stored together with the challenge. If there is none, the address was erased a moment ago.
  const submission = entered ? await firstLikeNewestSubmission(tx, challengeId) : undefined;
  const codesSent = submission === undefined ? null : await closeChallenge(tx, challengeId, own ? 1 : 0, now);
  const isOnlyCode = codesSent === 1 && challengeId === code.challenge_id;
  if (entered && !isOnlyCode) await endCodes(tx, code.challenge_id, now);
  if (submission !== undefined && codesSent !== null) {
    const newId = randomUUIDv7();
    const { id: leadId, first_read_at: firstReadAt } = await mergeLead(tx, submission, {
      leadId: newId,
      // The sealer finds new receipts by their ids.
      receiptId: uuid({ msecs: now }),
      verifiedFromAddress: clientAddress,
      sameBrowser: challenge !== undefined,
      asked: campaign.form.fields.map(({ id }) => id),
      firstReadAt: sendsArticle ? now : null,
      now,
    });
    // A new consent, and an address that works.
    await liftSuppressions(tx, { keys: pseudonymsOf(secrets, email), email });
    if (config.guideEmail !== 'off') {
      const recipient = asciiAddress(submission.email_typed) ?? email;
      await queueGuideMail(tx, { id: uuid({ msecs: now }), leadId, recipient, now });
    }
    const isNew = leadId === newId;
    await webhooks.queue(tx, { type: isNew ? 'lead.verified' : 'lead.updated', leadId, now });
    if (isNew && firstReadAt !== null) await webhooks.queue(tx, { type: 'lead.read', leadId, now });
    const { operatorEmail } = config;
    if (config.newLeadEmail === 'each' && operatorEmail !== null && isNew)
      await queueNewLeadMail(tx, { id: uuid({ msecs: now }), leadId, recipient: operatorEmail, now });
    return { type: 'verified', leadId, afterMs, isReadingNoted: firstReadAt !== null };
  }

  const current = await findChallengeById(tx, challengeId);
  if (current === undefined || current.verified_at === null) return WRONG_CODE;
  // Verified a moment ago, perhaps by this browser. The code was right when it came.
  const leadId = entered || challenge !== undefined ? await findLeadId(tx, email) : undefined;
  if (leadId === undefined) return WRONG_CODE;
  if (own) await unburnTry(tx, challengeId);
  return { type: 'verified', leadId, afterMs, isReadingNoted: false };
}

// Takes a form: stores it, makes a code and queues its e-mail, all in one transaction. Nothing known about an address changes
// here, because anyone can type any address.
import { randomUUIDv7 } from 'node:crypto';

import { v7 as uuid } from 'uuid';

import { codeReference, type CodeKey } from '#server/secrets/one-time-code.ts';
import {
  addCodeToChallenge,
  endChallenge,
  findOpenChallengeFor,
  hasCodeOfItsOwn,
  insertChallenge,
  lockAddress,
  type Challenge,
} from '#server/db/tables/challenges.ts';
import { isRecent } from '#server/db/engine/clocks.ts';
import {
  codeThatAnswers,
  endCodes,
  insertCode,
  isLive,
  liveCodeFromAddress,
  type Code,
} from '#server/db/tables/codes.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { findMailOfCode } from '#server/db/tables/outbox.ts';
import { insertSubmission } from '#server/db/tables/submissions.ts';
import { findTurn, laneOf, type Lane } from '#server/jobs/mail-jobs.ts';
import type { Attribution } from '#server/attribution/attribution.ts';
import { mailingTime } from '#server/visitors/leads/mailing-time.ts';
import type { Limits } from '#server/limits/limits.ts';
import { networkOf } from '#server/platform/network-of.ts';
import { queueCodeMail } from '#server/mail/letters/code-mail.ts';
import type { VisitorContext } from '#server/visitors/visitor-context.ts';
import type { CodeRequested } from '#shared/api.ts';
import type { ApiErrorCode } from '#shared/errors.ts';
import { asciiAddress, normaliseEmail, type Lead } from '#shared/lead.ts';
import { answersText, labelledAnswers } from '#shared/own-answers.ts';

/** What a request shows about its sender. */
export type Visitor = {
  readonly browserId: string;
  /** Whether that id was made for this request: nothing has it yet. */
  readonly isNewBrowser: boolean;
  readonly clientAddress: string;
  readonly userAgent: string | null;
  /** The consent wording that the page showed (consent-wording.ts). */
  readonly consentVersion: string;
  /** Campaign parameters of the page's address. */
  readonly attribution: Attribution;
  /** Which of several pages had the form; null where it was not said. */
  readonly variant: string | null;
  /** Marks of the address (email-domain.ts). */
  readonly flags: readonly string[];
};

export type RequestCodeOutcome =
  | { readonly type: 'requested'; readonly requested: CodeRequested }
  | {
      readonly type: 'refused';
      readonly error: Extract<ApiErrorCode, 'too-many-requests' | 'too-many-codes' | 'mail-backlog'>;
      readonly retryAfterSeconds: number;
    };

/** One request: the form, its sender and the time. */
type Ask = {
  readonly lead: Lead;
  readonly email: string;
  /** The address that mail is sent to. */
  readonly recipient: string;
  readonly lane: Lane;
  readonly visitor: Visitor;
  readonly now: number;
};

/**
 * Handles a validated form. The outcome is the same for addresses we know and addresses we do not.
 *
 * A code that could not be mailed in time is not promised: `mail-backlog`.
 *
 * Asking again while the code waits to be mailed, or within RESEND_SECONDS of its mailing, is answered as before and mails
 * nothing: to the same browser (by its challenge), and to the same network address (whose answer, cookie included, may have
 * been lost). A visitor who has used up every try gets a new code at once, in a new challenge.
 */
export async function requestCode(
  context: VisitorContext,
  lead: Lead,
  visitor: Visitor,
): Promise<RequestCodeOutcome> {
  const email = normaliseEmail(lead.email);
  // Mail servers need not support other letters than ASCII in a domain. The schema refuses addresses without such a form.
  const recipient = asciiAddress(lead.email) ?? email;
  const lane = laneOf(networkOf(visitor.clientAddress), recipient);
  const ask: Ask = { lead, email, recipient, lane, visitor, now: context.clock() };
  const outcome = await context.database.db.transaction().execute((tx) => answer(tx, context, ask));
  if (outcome.type === 'requested') context.mail.wake();
  return outcome;
}

async function answer(tx: Db, context: VisitorContext, ask: Ask): Promise<RequestCodeOutcome> {
  const { limits } = context;
  const { email, recipient, lane, visitor, now } = ask;

  const asks = await limits.askFromNetwork(tx, visitor.clientAddress, now);
  if (asks.type === 'exceeded') return { ...asks, type: 'refused', error: 'too-many-requests' };

  await lockAddress(tx, context.database.engine, email);
  const { browserId, isNewBrowser, clientAddress } = visitor;
  const open = isNewBrowser ? undefined : await findOpenChallengeFor(tx, { browserId, email, now });
  const ofSameClient = await liveCodeFromAddress(tx, { email, clientAddress }, now);
  const exhausted = open !== undefined && limits.isExhausted(open);
  const challenge = exhausted ? undefined : open;

  const recent = exhausted ? undefined : await findRecentCode(tx, limits, { challenge, ofSameClient }, ask);
  if (recent) {
    const challengeId =
      challenge?.id ?? (await openChallenge(tx, ask, { codesSent: 0, expiresAt: recent.expires_at }));
    await storeSubmission(tx, context, ask, challengeId);
    const sent = await findMailOfCode(tx, recent.id);
    return requested(context, challengeId, keyOf(recent), resendInSeconds(context, recent, sent, now));
  }

  const { codeTtlSeconds } = context.config;
  const turn = await findTurn(tx, lane, { now, codeTtlSeconds });
  if (turn.type === 'refused') return { ...turn, error: 'mail-backlog' };

  const maySend = await limits.sendToAddress(tx, email, now);
  if (maySend.type === 'exceeded') return { ...maySend, type: 'refused', error: 'too-many-codes' };

  if (exhausted) {
    await endCodes(tx, open.id, now);
    await endChallenge(tx, open.id, now);
  }
  const expiresAt = now + codeTtlSeconds * 1000;
  if (challenge) await addCodeToChallenge(tx, challenge.id, expiresAt);
  const challengeId = challenge?.id ?? (await openChallenge(tx, ask, { codesSent: 1, expiresAt }));
  await storeSubmission(tx, context, ask, challengeId);
  // The id holds the time, by which codes are counted (codeStatistics).
  const code: Code = {
    id: uuid({ msecs: now }),
    challenge_id: challengeId,
    email,
    client_address: clientAddress,
    secret_id: context.secrets[0].id,
    created_at: now,
    expires_at: expiresAt,
    used_at: null,
  };
  await insertCode(tx, code);
  const place = { ...lane, turnAt: turn.turnAt };
  await queueCodeMail(tx, { id: uuid({ msecs: now }), codeId: code.id, recipient, place, now });
  return requested(context, challengeId, keyOf(code), context.config.resendSeconds);
}

/** The code that was mailed a moment ago, or is about to be, and that answers this request as well. */
async function findRecentCode(
  tx: Db,
  limits: Limits,
  { challenge, ofSameClient }: { challenge: Challenge | undefined; ofSameClient: Code | undefined },
  { email, now }: Ask,
): Promise<Code | undefined> {
  const code = await codeThatAnswers(tx, challenge, ofSameClient, now);
  if (code === undefined || !isLive(code, now)) return undefined;
  const mailedAt = mailingTime(await findMailOfCode(tx, code.id), code, now);
  if (!isRecent(mailedAt, limits.resendQuietMs, now)) return undefined;
  // Another browser's code is entered on the shared budget. If that is being used up, only a new code helps.
  const mayEnterIt = hasCodeOfItsOwn(challenge) || !(await limits.isSharedBudgetTouched(tx, email, now));
  return mayEnterIt ? code : undefined;
}

const keyOf = ({ id, secret_id: secretId }: Code): CodeKey => ({ id, secretId });

async function openChallenge(
  tx: Db,
  { email, visitor, now }: Ask,
  { codesSent, expiresAt }: { codesSent: 0 | 1; expiresAt: number },
): Promise<string> {
  const id = randomUUIDv7();
  await insertChallenge(tx, {
    id,
    browser_id: visitor.browserId,
    email,
    codes_sent: codesSent,
    created_at: now,
    expires_at: expiresAt,
  });
  return id;
}

async function storeSubmission(
  tx: Db,
  { campaign: { form } }: VisitorContext,
  ask: Ask,
  challengeId: string,
): Promise<void> {
  const { lead, visitor } = ask;
  await insertSubmission(tx, {
    id: randomUUIDv7(),
    challenge_id: challengeId,
    name: lead.name,
    company: lead.company,
    answers: answersText(labelledAnswers(form.fields, lead.answers)),
    email_typed: lead.email,
    email: ask.email,
    consent_version: visitor.consentVersion,
    client_address: visitor.clientAddress,
    user_agent: visitor.userAgent,
    attribution: JSON.stringify(visitor.attribution),
    flags: visitor.flags.join(' '),
    variant: visitor.variant,
    created_at: ask.now,
  });
}

function requested(
  context: VisitorContext,
  challengeId: string,
  code: CodeKey,
  resendSeconds: number,
): RequestCodeOutcome {
  return {
    type: 'requested',
    requested: {
      challengeId,
      reference: codeReference(context.secrets, code),
      resendSeconds,
      sender: context.mail.sender,
    },
  };
}

/**
 * Seconds until another code can be sent, counted from the mailing: at most RESEND_SECONDS, and 0 once this one cannot be entered.
 */
export function resendInSeconds(
  { config: { resendSeconds } }: Pick<VisitorContext, 'config'>,
  code: Code,
  mail: Parameters<typeof mailingTime>[0],
  now: number,
): number {
  const mailedAt = mailingTime(mail, code, now);
  if (!isLive(code, now) || !isRecent(mailedAt, resendSeconds * 1000, now)) return 0;
  return Math.min(resendSeconds, Math.ceil(resendSeconds - (now - mailedAt) / 1000));
}

// Runs in one transaction and returns refusals, because a throw would roll back the counted request. Changes no data about a lead,
// because anyone can type any e-mail address.
import type { Attribution } from '#server/attribution/attribution.ts';
import {
  endChallenge,
  findChallenge,
  hasCodeOfItsOwn,
  insertChallenge,
  updateChallenge,
  type Challenge,
} from '#server/codes/challenges.ts';
import { endCodes, issueCode, isLive, type Code } from '#server/codes/codes.ts';
import { codeReference } from '#server/codes/digits.ts';
import { acquireLocks, type Db, type OpenDatabase } from '#server/db/engine/connect.ts';
import { newIdAt } from '#server/db/engine/ids.ts';
import { isRecent } from '#server/platform/time.ts';
import { findMailOfCode, type MailOfCode } from '#server/db/tables/outbox.ts';
import { findTurn, lanesOf, type Lanes } from '#server/jobs/mail-jobs.ts';
import { findOwnOrSharedCode, mailingTime, resendInSeconds } from '#server/leads/code-screen.ts';
import type { Limits } from '#server/limits/limits.ts';
import { queueCodeMail } from '#server/mail/templates/code-mail.ts';
import type { OpenMail } from '#server/mail/mail.ts';
import { networkOf } from '#server/platform/ip-addresses.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';
import type { CodeRequested } from '#shared/api.ts';
import type { ApiErrorCode } from '#shared/errors.ts';
import type { OwnField } from '#shared/campaign-schema.ts';
import { answersOf, asciiAddress, normaliseEmail, type LeadForm, type LeadAnswers } from '#shared/lead.ts';
import { storedAnswers, labelledAnswers } from '#shared/own-fields.ts';

type AskingVisitor = {
  readonly browserId: string;
  /** The request had no cookie, so the browser has no challenge yet. */
  readonly isNewBrowser: boolean;
  readonly clientAddress: string;
  readonly userAgent: string | null;
  readonly consentVersion: string;
  readonly newsConsentVersion: string | null;
  readonly attribution: Attribution;
  readonly variant: string | null;
  readonly flags: readonly string[];
};

export type AskOutcome =
  | { readonly type: 'requested'; readonly requested: CodeRequested }
  | {
      readonly type: 'refused';
      readonly error: Extract<ApiErrorCode, 'too-many-requests' | 'too-many-codes' | 'mail-backlog'>;
      readonly retryAfterSeconds: number;
    };

type AskParts = {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly limits: Limits;
  readonly mail: Pick<OpenMail, 'sender' | 'wake'>;
  readonly config: Pick<Config, 'codeTtlSeconds' | 'resendSeconds'>;
  readonly campaign: { readonly form: { readonly fields: readonly OwnField[] } };
};

type NormalisedForm = LeadAnswers & {
  readonly email: string;
  readonly emailTyped: string;
  /** As typed, but with the domain in ASCII, because mail servers need not support other domains. */
  readonly recipient: string;
  readonly lanes: Lanes;
};

/**
 * Known and unknown e-mail addresses get the same outcome. `mail-backlog` means that the code could not be mailed in time.
 *
 * Asking again mails nothing while the mail is queued, or within RESEND_SECONDS after it was sent (findRecentCode names an
 * exception). This also applies to another browser at the same IP address, because a lost response also loses its cookie, so a
 * visitor's browser may look like another. A visitor whose attempts are used up gets a new code and challenge at once.
 */
export async function askForCode(
  parts: AskParts,
  typed: LeadForm,
  visitor: AskingVisitor,
  now: number,
): Promise<AskOutcome> {
  const { database, mail, campaign } = parts;
  const email = normaliseEmail(typed.email);
  const recipient = asciiAddress(typed.email) ?? email;
  const form: NormalisedForm = {
    name: typed.name,
    company: typed.company,
    answers: storedAnswers(labelledAnswers(campaign.form.fields, typed.answers)),
    email,
    emailTyped: typed.email,
    recipient,
    lanes: lanesOf(networkOf(visitor.clientAddress), recipient),
  };
  const outcome = await database.db
    .transaction()
    .execute((tx) => issueOrReuseCode(tx, form, visitor, now, parts));
  if (outcome.type === 'requested') mail.wake();
  return outcome;
}

async function issueOrReuseCode(
  tx: Db,
  form: NormalisedForm,
  visitor: AskingVisitor,
  now: number,
  parts: AskParts,
): Promise<AskOutcome> {
  const { secrets, limits, mail, config } = parts;
  const { email, recipient, lanes } = form;
  const { browserId, isNewBrowser, clientAddress } = visitor;
  const requestedOutcome = (challengeId: string, code: Code, resendSeconds: number): AskOutcome => ({
    type: 'requested',
    requested: {
      challengeId,
      reference: codeReference(secrets, code),
      resendSeconds,
      sender: mail.sender,
    },
  });

  const networkLimit = await limits.countFormOfNetwork(tx, clientAddress, now);
  if (networkLimit.type === 'exceeded')
    return { ...networkLimit, type: 'refused', error: 'too-many-requests' };

  // Two forms for one e-mail address at the same moment must not mail two codes.
  await acquireLocks(tx, email);
  const open = isNewBrowser ? undefined : await findChallenge(tx, 'open', { browserId, email, now });
  // A challenge whose attempts are used up is replaced, not continued.
  const isExhausted = open !== undefined && limits.isExhausted(open);
  const continued = isExhausted ? undefined : open;
  const sentCodes = await limits.readCodesSent(tx, email, now);
  const recent = isExhausted
    ? null
    : await findRecentCode(tx, sentCodes, continued, form, visitor, limits, now);
  if (recent !== null) {
    const stored = { codesMailed: 0, expiresAt: recent.code.expires_at } as const;
    const challengeId = await storeForm(tx, continued, form, visitor, stored, now);
    const resendSeconds = resendInSeconds(recent.code, recent.mail, config.resendSeconds, now);
    return requestedOutcome(challengeId, recent.code, resendSeconds);
  }

  const turn = await findTurn(tx, lanes, { now, codeTtlSeconds: config.codeTtlSeconds });
  if (turn.type === 'refused') return { ...turn, type: 'refused', error: 'mail-backlog' };
  const emailLimit = limits.checkCodesSent(sentCodes, now);
  if (emailLimit.type === 'exceeded') return { ...emailLimit, type: 'refused', error: 'too-many-codes' };

  if (isExhausted) {
    await endCodes(tx, 'codes', { submission_id: open.id }, now);
    await endChallenge(tx, open.id, now);
  }
  const expiresAt = now + config.codeTtlSeconds * 1000;
  const challengeId = await storeForm(tx, continued, form, visitor, { codesMailed: 1, expiresAt }, now);
  const code: Code = {
    // The ID contains the time, which is used to count codes (codeStatistics in codes.ts).
    id: newIdAt(now),
    submission_id: challengeId,
    email,
    client_address: clientAddress,
    secret_id: secrets[0].id,
    created_at: now,
    expires_at: expiresAt,
    used_at: null,
  };
  await issueCode(tx, code);
  const place = { ...lanes, turnAt: turn.turnAt };
  await queueCodeMail(tx, { id: newIdAt(now), codeId: code.id, recipient, place, now });
  return requestedOutcome(challengeId, code, config.resendSeconds);
}

/** Finds the visitor's code if its mail is queued or was sent within `resendQuietMs`, so asking again mails nothing. */
async function findRecentCode(
  tx: Db,
  sentCodes: readonly Code[],
  challenge: Challenge | undefined,
  { email }: NormalisedForm,
  { clientAddress }: AskingVisitor,
  limits: Limits,
  now: number,
): Promise<{ readonly code: Code; readonly mail: MailOfCode } | null> {
  const code = findOwnOrSharedCode(sentCodes, challenge, clientAddress, now);
  if (code === undefined || !isLive(code, now)) return null;
  const mail = await findMailOfCode(tx, code.id);
  // For queued mail, the mailing time is now, which is recent.
  if (!isRecent(mailingTime(mail, code, now), limits.resendQuietMs, now)) return null;
  // A browser without its own code depends on shared attempts (consumeAttempt in verify-code.ts), which others may use up at any
  // time. So once one of these attempts is used, the browser gets a new code.
  const mayLackAttempts = !hasCodeOfItsOwn(challenge) && (await limits.mayLackSharedAttempts(tx, email, now));
  return mayLackAttempts ? null : { code, mail };
}

/**
 * Stores the form as a new challenge, or in the open one, which keeps the source, variant and flags of its first form. If the same
 * form is sent again, the challenge also keeps the time, IP address and browser.
 * @returns the ID of the challenge
 */
async function storeForm(
  tx: Db,
  challenge: Challenge | undefined,
  form: NormalisedForm,
  visitor: AskingVisitor,
  { codesMailed, expiresAt }: { readonly codesMailed: 0 | 1; readonly expiresAt: number },
  now: number,
): Promise<string> {
  const { clientAddress, userAgent, attribution, variant, flags } = visitor;
  const content = {
    ...answersOf(form),
    email_typed: form.emailTyped,
    consent_version: visitor.consentVersion,
    news_consent_version: visitor.newsConsentVersion,
  };
  const stored = { ...content, client_address: clientAddress, user_agent: userAgent, given_at: now };
  if (challenge === undefined) {
    const id = newIdAt(now);
    await insertChallenge(tx, {
      ...stored,
      id,
      browser_id: visitor.browserId,
      email: form.email,
      attribution: JSON.stringify(attribution),
      flags: flags.join(' '),
      variant,
      created_at: now,
      asked_at: now,
      codes_sent: codesMailed,
      expires_at: expiresAt,
    });
    return id;
  }
  const isUnchanged = (Object.keys(content) as (keyof typeof content)[]).every(
    (field) => content[field] === challenge[field],
  );
  const { client_address, user_agent, given_at } = challenge;
  await updateChallenge(tx, challenge.id, {
    ...stored,
    ...(isUnchanged && { client_address, user_agent, given_at }),
    asked_at: now,
    codes_sent: challenge.codes_sent + codesMailed,
    expires_at: Math.max(challenge.expires_at, expiresAt),
  });
  return challenge.id;
}

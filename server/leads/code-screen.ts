// Restores the code screen after a reload, without sending anything.
import { hasCodeOfItsOwn, findChallenge, type Challenge } from '#server/codes/challenges.ts';
import { isLive, newestCodesOf, type Code } from '#server/codes/codes.ts';
import { codeReference } from '#server/codes/digits.ts';
import { isRecent } from '#server/platform/time.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { findMailOfCode, type MailOfCode } from '#server/db/tables/outbox.ts';
import { NOT_STATED } from '#server/db/tables/consent-wordings.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import type { MailStatus, OpenChallenge } from '#shared/api.ts';
import type { OwnForm } from '#shared/campaign-schema.ts';
import { stillAcceptedAnswers } from '#shared/own-fields.ts';

/**
 * Finds an open challenge, or a verified one whose response did not reach the page.
 * @param id a challenge ID; undefined for the newest open challenge
 */
export async function findCodeScreen(
  db: Db,
  browserId: string,
  id: string | undefined,
  options: {
    readonly hasSession: boolean;
    readonly form: OwnForm;
    readonly secrets: Secrets;
    readonly sender: string;
    readonly resendSeconds: number;
    readonly now: number;
  },
): Promise<OpenChallenge | null> {
  const { hasSession, form, secrets, sender, resendSeconds, now } = options;
  const challenge =
    (await findChallenge(db, 'open', { browserId, now, id })) ??
    (id === undefined ? undefined : await findChallenge(db, 'verified', { browserId, now, id }));
  const code = challenge && (await findCodeOf(db, challenge, now));
  if (challenge === undefined || code === undefined) return null;
  const mail = await findMailOfCode(db, code.id);
  return {
    name: challenge.name,
    company: challenge.company,
    email: challenge.email_typed,
    ...(form.fields.length > 0 && { answers: stillAcceptedAnswers(form, challenge.answers) }),
    reference: codeReference(secrets, code),
    resendSeconds: resendInSeconds(code, mail, resendSeconds, now),
    askedSecondsAgo: Math.max(0, now - challenge.asked_at) / 1000,
    consentVersion: challenge.consent_version === NOT_STATED ? '' : challenge.consent_version,
    ...(challenge.news_consent_version !== null && { newsConsentVersion: challenge.news_consent_version }),
    mail: mailStatusOf(mail, now),
    sender,
    ...(challenge.verified_at !== null && hasSession && { verified: true }),
  };
}

async function findCodeOf(db: Db, challenge: Challenge, now: number): Promise<Code | undefined> {
  const isVerified = challenge.verified_at !== null;
  const codes =
    hasCodeOfItsOwn(challenge) && !isVerified
      ? await newestCodesOf(db, { challengeId: challenge.id }, { unexpiredAt: 0 }, now)
      : await newestCodesOf(db, { emails: [challenge.email] }, { unexpiredAt: now }, now);
  return isVerified
    ? codeEnteredFor(codes, challenge)
    : findOwnOrSharedCode(codes, challenge, challenge.client_address, now);
}

/**
 * Finds the challenge's own newest code, even if it is no longer live. For a challenge without its own code, finds a live one
 * requested from the same IP address.
 * @param codes for the challenge's e-mail address, newest first
 */
export const findOwnOrSharedCode = (
  codes: readonly Code[],
  challenge: Challenge | undefined,
  clientAddress: string,
  now: number,
): Code | undefined =>
  hasCodeOfItsOwn(challenge)
    ? codes.find((code) => code.submission_id === challenge?.id)
    : codes.find((code) => code.client_address === clientAddress && isLive(code, now));

/** Another browser may have entered its own code, so the time must match. */
export const codeEnteredFor = (codes: readonly Code[], challenge: Challenge): Code | undefined => {
  const entered = codes.filter((code) => code.used_at !== null && code.used_at === challenge.verified_at);
  return entered.find((code) => code.submission_id === challenge.id) ?? entered[0];
};

/** @returns `now` while the mail is queued; the code's creation time if the mail failed or its row was deleted */
export function mailingTime(mail: MailOfCode, code: Pick<Code, 'created_at'>, now: number): number {
  if (mail?.state === 'queued') return now;
  return mail?.state === 'sent' ? (mail.finished_at ?? code.created_at) : code.created_at;
}

export function resendInSeconds(code: Code, mail: MailOfCode, resendSeconds: number, now: number): number {
  const mailedAt = mailingTime(mail, code, now);
  if (!isLive(code, now) || !isRecent(mailedAt, resendSeconds * 1000, now)) return 0;
  return Math.min(resendSeconds, Math.ceil(resendSeconds - (now - mailedAt) / 1000));
}

const DELAYED_AFTER_MS = 20_000;

/** Never reveals a mail server's reply. */
function mailStatusOf(mail: MailOfCode, now: number): MailStatus {
  switch (mail?.state) {
    case 'sent':
      return 'sent';
    case 'failed':
      return 'refused';
    case 'queued':
      return mail.error_class !== null || now - mail.created_at >= DELAYED_AFTER_MS ? 'delayed' : 'waiting';
    case 'dropped':
    case undefined:
      return 'waiting';
  }
}

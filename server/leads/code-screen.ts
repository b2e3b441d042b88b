// What the page shows while a visitor waits for a code: restored after a reload, which sends nothing.
import { hasCodeOfItsOwn, findChallenge, type Challenge } from '#server/codes/challenges.ts';
import { codesOfAddress, codesOfChallenge, isLive, type Code } from '#server/codes/codes.ts';
import { codeReference } from '#server/codes/digits.ts';
import { isRecent } from '#server/db/engine/clocks.ts';
import type { Db } from '#server/db/engine/connect.ts';
import type { OutboxRow } from '#server/db/tables/outbox.ts';
import { findMailOfCode } from '#server/db/tables/outbox.ts';
import { NOT_STATED } from '#server/db/tables/consent-wordings.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import type { MailFate, OpenChallenge } from '#shared/api.ts';
import type { OwnForm } from '#shared/campaign-schema.ts';
import { typedAnswers } from '#shared/own-fields.ts';

/**
 * A challenge that a browser waits in, or has verified while its page did not see the response. It then enters the same code again, or
 * has the session that opens the article.
 * @param browserId from its challenge cookie
 * @param wanted ID: which one; undefined for the newest that is open
 */
export async function findCodeScreen(
  db: Db,
  browserId: string,
  id: string | undefined,
  {
    hasSession,
    form,
    secrets,
    sender,
    resendSeconds,
    now,
  }: {
    readonly hasSession: boolean;
    readonly form: OwnForm;
    readonly secrets: Secrets;
    readonly sender: string;
    readonly resendSeconds: number;
    readonly now: number;
  },
): Promise<OpenChallenge | null> {
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
    ...(form.fields.length > 0 && { answers: typedAnswers(form, challenge.answers) }),
    reference: codeReference(secrets, { id: code.id, secretId: code.secret_id }),
    resendSeconds: resendInSeconds(code, mail, resendSeconds, now),
    // Not below 0, if a wrong clock stored the time.
    askedSecondsAgo: Math.max(0, now - challenge.asked_at) / 1000,
    consentVersion: challenge.consent_version === NOT_STATED ? '' : challenge.consent_version,
    mail: mailFate(mail, now),
    sender,
    ...(challenge.verified_at !== null && hasSession && { verified: true }),
  };
}

/** The code that opens a challenge, or has opened it. */
async function findCodeOf(db: Db, challenge: Challenge, now: number): Promise<Code | undefined> {
  if (challenge.verified_at !== null)
    return codeEnteredFor(await codesOfAddress(db, [challenge.email], { since: now }, now), challenge);
  const { id, email, codes_sent: ownCodes } = challenge;
  const codes =
    ownCodes > 0
      ? await codesOfChallenge(db, id, 0, now)
      : await codesOfAddress(db, [email], { since: now }, now);
  return codeFor(codes, challenge, challenge.client_address, now);
}

/**
 * The one code that answers a challenge: its own newest, live or not; without one of its own, what a visitor at the same IP address
 * asked for.
 * @param codes of its e-mail address, newest first
 */
export const codeFor = (
  codes: readonly Code[],
  challenge: Challenge | undefined,
  clientAddress: string,
  now: number,
): Code | undefined =>
  hasCodeOfItsOwn(challenge)
    ? codes.find((code) => code.submission_id === challenge.id)
    : codes.find((code) => code.client_address === clientAddress && isLive(code, now));

/**
 * The code that a challenge was verified with: the two were noted at the same time. Another browser may have entered its own at that
 * moment.
 */
export const codeEnteredFor = (codes: readonly Code[], challenge: Challenge): Code | undefined => {
  const entered = codes.filter((code) => code.used_at !== null && code.used_at === challenge.verified_at);
  return entered.find((code) => code.submission_id === challenge.id) ?? entered[0];
};

/** The mail that carries a code; undefined when its row is gone. */
type MailOfCode = Pick<OutboxRow, 'state' | 'created_at' | 'finished_at' | 'error_class'> | undefined;

/**
 * When the code was mailed: now, as long as its mail waits to be sent; when it was made, if the mail failed or its row is gone.
 * The countdown to a resend begins then.
 */
export function mailingTime(mail: MailOfCode, code: Pick<Code, 'created_at'>, now: number): number {
  if (mail?.state === 'queued') return now;
  return mail?.state === 'sent' ? (mail.finished_at ?? code.created_at) : code.created_at;
}

/** Seconds until another code can be sent, counted from the mailing: at most RESEND_SECONDS, and 0 once this one cannot be entered. */
export function resendInSeconds(code: Code, mail: MailOfCode, resendSeconds: number, now: number): number {
  const mailedAt = mailingTime(mail, code, now);
  if (!isLive(code, now) || !isRecent(mailedAt, resendSeconds * 1000, now)) return 0;
  return Math.min(resendSeconds, Math.ceil(resendSeconds - (now - mailedAt) / 1000));
}

/** Mail that waits longer than this is late: it usually leaves within a second. */
const LATE_MS = 20_000;

/** The state of the mail that carries a code, as its visitor may see it: never a mail server's own words. */
function mailFate(mail: MailOfCode, now: number): MailFate {
  switch (mail?.state) {
    case 'sent':
      return 'sent';
    case 'failed':
      return 'refused';
    case 'queued':
      return mail.error_class !== null || now - mail.created_at >= LATE_MS ? 'delayed' : 'waiting';
    // Dropped, or its row is gone: the code has ended, and nothing is known.
    case 'dropped':
    case undefined:
      return 'waiting';
  }
}

// Accepts bounces and complaints sent by mail. They must name one of our mails, by Message-ID or signed return path: otherwise
// anyone could suppress any e-mail address.
import { readBounceAddress } from '#server/secrets/mail-links.ts';
import { findMail } from '#server/db/tables/outbox.ts';
import { readReturnedMessage, type ReturnedMessage } from '#server/bounces/read-message.ts';
import { takeReport, type ReportOutcome, type ReportParts } from '#server/bounces/accept-report.ts';
import { meaningOfAll, type AnswerMeaning } from '#server/platform/mail-server-answers.ts';
import { normaliseEmail } from '#shared/lead.ts';

export type MessageOutcome =
  | { readonly type: 'no report' }
  | { readonly type: 'unreadable report'; readonly program: string }
  | { readonly type: 'not ours' }
  /** Another recipient, such as the target of a broken forwarding. */
  | { readonly type: 'another address'; readonly email: string }
  | { readonly type: 'nothing to do'; readonly email: string; readonly why: string }
  | {
      readonly type: ReportOutcome;
      readonly email: string;
      readonly reason: 'bounced' | 'complained';
      readonly note: string | null;
    };

/** @param now milliseconds since 1970 */
export async function takeMessage(parts: ReportParts, raw: Uint8Array, now: number): Promise<MessageOutcome> {
  const message = await readReturnedMessage(raw);
  if (message.type === 'other') return { type: 'no report' };
  if (message.type === 'unreadable report') return message;
  const mail = await findNamedMail(parts, message);
  if (mail === null) return { type: 'not ours' };
  const email = normaliseEmail(mail.recipient);
  // A report cannot be older than its mail, so an earlier date is wrong.
  const happenedAt = Math.max(message.writtenAt ?? 0, mail.created_at);

  if (message.type === 'feedback') {
    if (message.feedback !== 'abuse')
      return { type: 'nothing to do', email, why: message.feedback || 'no type of feedback' };
    const complaint = { reason: 'complained', email, note: null } as const;
    return { type: await takeReport(parts, { ...complaint, happenedAt }, now), ...complaint };
  }

  const aboutIt = message.recipients.filter(({ address }) => normaliseEmail(address) === email);
  const about = aboutIt.find(({ action }) => action !== 'failed') ?? aboutIt[0];
  if (about === undefined) return { type: 'another address', email };
  const meaning = meaningOfAll(about.answers);
  if (about.action !== 'failed' || meaning !== 'no such address')
    return { type: 'nothing to do', email, why: whyNot(about.action, meaning) };
  const bounce = { reason: 'bounced', email, note: about.answers.join(' ') } as const;
  return { type: await takeReport(parts, { ...bounce, happenedAt }, now), ...bounce };
}

const whyNot = (action: string, meaning: AnswerMeaning): string =>
  action === 'failed' ? meaning : action || 'no action';

const MAIL_ID = /(?<![^\s<])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=@)/gi;

async function findNamedMail(
  { database, secrets }: ReportParts,
  { messageIds, cameTo }: Exclude<ReturnedMessage, { type: 'other' | 'unreadable report' }>,
): Promise<{ readonly recipient: string; readonly created_at: number } | null> {
  const ids = [
    ...messageIds.flatMap((text) => text.match(MAIL_ID) ?? []).map((id) => id.toLowerCase()),
    ...cameTo.map((text) => readBounceAddress(secrets, text)),
  ];
  for (const id of new Set(ids)) {
    const mail = id ? await findMail(database.db, id) : undefined;
    if (mail !== undefined) return mail;
  }
  return null;
}

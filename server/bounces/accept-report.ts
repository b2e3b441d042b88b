// A bounce suppresses the e-mail address; a complaint also withdraws consent.
import { readReturnedMessage, type ReturnedMessage } from '#server/bounces/read-message.ts';
import { withdrawIn, type WithdrawalParts } from '#server/consent/withdraw.ts';
import { type Db, acquireLocks } from '#server/db/engine/connect.ts';
import { idsOfContacts } from '#server/db/contacts/people.ts';
import { findLead } from '#server/db/tables/leads.ts';
import { findMail } from '#server/db/tables/outbox.ts';
import { countInWindowUpTo } from '#server/db/tables/limit-windows.ts';
import { suppress } from '#server/db/tables/suppressions.ts';
import { type ReplyMeaning, storedReply, meaningOfAll } from '#server/platform/mail-server-replies.ts';
import { readBounceAddress } from '#server/secrets/mail-links.ts';
import { pseudonymsOf } from '#server/secrets/secrets.ts';
import { normaliseEmail } from '#shared/lead.ts';

export type MailReport = {
  readonly reason: 'bounced' | 'complained';
  readonly email: string;
  readonly note: string | null;
  readonly happenedAt: number;
};

export type ReportOutcome =
  | 'suppressed'
  | 'already'
  /** The owner verified the e-mail address after the bounce or complaint. */
  | 'outdated'
  /** The report isn't stored, because nothing is stored about the e-mail address. */
  | 'unknown';

/** Identifies a call of a mail provider, so it is accepted only once. */
export type SingleUseKey = {
  readonly key: string;
  /** From then on, the call is refused as too old anyway. */
  readonly until: number;
};

export async function acceptReport(
  parts: WithdrawalParts,
  report: MailReport,
  now: number,
): Promise<ReportOutcome> {
  const [outcome] = await parts.database.db
    .transaction()
    .execute((tx) => acceptAll(tx, parts, [report], now));
  parts.webhooks.wake();
  return outcome!;
}

/**
 * Stores the key and the reports in one transaction, so a failed call can be repeated.
 * @returns null if the key was used before
 */
export async function acceptReportsOnce(
  parts: WithdrawalParts,
  { reports, once: { key, until } }: { readonly reports: readonly MailReport[]; readonly once: SingleUseKey },
  now: number,
): Promise<readonly ReportOutcome[] | null> {
  const outcomes = await parts.database.db.transaction().execute(async (tx) => {
    if ((await countInWindowUpTo(tx, key, { limit: 1, windowMs: until - now }, now)) !== null) return null;
    return acceptAll(tx, parts, reports, now);
  });
  parts.webhooks.wake();
  return outcomes;
}

async function acceptAll(
  tx: Db,
  parts: WithdrawalParts,
  reports: readonly MailReport[],
  now: number,
): Promise<readonly ReportOutcome[]> {
  // All at once, because two calls that locked the same people one by one could deadlock.
  await acquireLocks(tx, ...reports.map(({ email }) => normaliseEmail(email)));
  return Array.fromAsync(reports, (report) => acceptOne(tx, parts, report, now));
}

async function acceptOne(
  tx: Db,
  parts: WithdrawalParts,
  { reason, email: reported, note, happenedAt: reportedAt }: MailReport,
  now: number,
): Promise<ReportOutcome> {
  const { secrets, webhooks } = parts;
  const email = normaliseEmail(reported);
  // A report dated in the future would seem newer than a verification that comes after it.
  const happenedAt = Math.min(reportedAt, now);
  const lead = await findLead(tx, email);
  if (lead === undefined && !(await idsOfContacts(tx, [email])).has(email)) return 'unknown';
  if (reason === 'complained' && lead !== undefined) {
    const complaint = { leadId: lead.id, way: 'complaint', happenedAt, now } as const;
    const outcome = await withdrawIn(tx, parts, complaint);
    return outcome === 'withdrawn' ? 'suppressed' : outcome;
  }
  if (lead !== undefined && lead.last_verified_at > happenedAt) return 'outdated';
  const keys = pseudonymsOf(secrets, email);
  const storedNote = note === null ? null : storedReply(note);
  if (!(await suppress(tx, { keys, reason, email, note: storedNote, now }))) return 'already';
  if (lead !== undefined) await webhooks.queue(tx, { type: 'lead.bounced', leadId: lead.id, now });
  return 'suppressed';
}

export type MessageOutcome =
  | { readonly type: 'no report' }
  | { readonly type: 'unreadable report'; readonly program: string }
  | { readonly type: 'not ours' }
  | { readonly type: 'another address'; readonly email: string }
  | { readonly type: 'nothing to do'; readonly email: string; readonly why: string }
  | {
      readonly type: ReportOutcome;
      readonly email: string;
      readonly reason: 'bounced' | 'complained';
      readonly note: string | null;
    };

/**
 * Accepts a bounce or complaint sent by mail. It must identify one of our mails by Message-ID or signed return path. Otherwise
 * anyone could suppress any e-mail address.
 */
export async function acceptMessage(
  parts: WithdrawalParts,
  raw: Uint8Array,
  now: number,
): Promise<MessageOutcome> {
  const message = await readReturnedMessage(raw);
  if (message.type === 'other') return { type: 'no report' };
  if (message.type === 'unreadable report') return message;
  const mail = await findReportedMail(parts, message);
  if (mail === null) return { type: 'not ours' };
  const email = normaliseEmail(mail.recipient);
  // A report cannot be older than its mail, so an earlier date is wrong.
  const happenedAt = Math.max(message.writtenAt ?? 0, mail.created_at);

  if (message.type === 'feedback') {
    if (message.feedback !== 'abuse')
      return { type: 'nothing to do', email, why: message.feedback || 'no type of feedback' };
    const complaint = { reason: 'complained', email, note: null } as const;
    return { type: await acceptReport(parts, { ...complaint, happenedAt }, now), ...complaint };
  }

  const statuses = message.recipients.filter(({ address }) => normaliseEmail(address) === email);
  // If the message contains the e-mail address twice, a single action other than "failed" prevents the suppression.
  const status = statuses.find(({ action }) => action !== 'failed') ?? statuses[0];
  if (status === undefined) return { type: 'another address', email };
  const meaning = meaningOfAll(status.replies);
  if (status.action !== 'failed' || meaning !== 'no such address')
    return { type: 'nothing to do', email, why: whyNot(status.action, meaning) };
  const bounce = { reason: 'bounced', email, note: status.replies.join(' ') } as const;
  return { type: await acceptReport(parts, { ...bounce, happenedAt }, now), ...bounce };
}

const whyNot = (action: string, meaning: ReplyMeaning): string =>
  action === 'failed' ? meaning : action || 'no action';

const MAIL_ID = /(?<![^\s<])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=@)/gi;

async function findReportedMail(
  { database, secrets }: WithdrawalParts,
  { messageIds, deliveredTo }: Exclude<ReturnedMessage, { type: 'other' | 'unreadable report' }>,
): Promise<{ readonly recipient: string; readonly created_at: number } | null> {
  const ids = [
    ...messageIds.flatMap((text) => text.match(MAIL_ID) ?? []).map((id) => id.toLowerCase()),
    ...deliveredTo.map((text) => readBounceAddress(secrets, text)),
  ];
  for (const id of new Set(ids)) {
    const mail = id ? await findMail(database.db, id) : undefined;
    if (mail !== undefined) return mail;
  }
  return null;
}

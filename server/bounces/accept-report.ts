// Acts on a report that is known to be genuine: a bounce suppresses the address, and a complaint withdraws the lead's consent as
// well. Repeating a report changes nothing, and a report older than the lead's last verification does nothing. Which bounces count
// is decided in platform/mail-server-answers.ts.
import { pseudonymsOf } from '#server/secrets/pseudonyms.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import { lockAddress } from '#server/db/engine/address-lock.ts';
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { countInWindowUpTo } from '#server/db/tables/limit-windows.ts';
import { keptReply } from '#server/platform/mail-server-answers.ts';
import { findHolder } from '#server/db/queries/returned-mail.ts';
import { suppress } from '#server/db/tables/suppressions.ts';
import type { Webhooks } from '#server/webhooks/webhooks.ts';
import { normaliseEmail } from '#shared/lead.ts';

/** Mail to an address came back for good, or its reader called it spam. */
export type MailReport = {
  readonly reason: 'bounced' | 'complained';
  /** Not yet normalised. */
  readonly email: string;
  /** The mail server's reply; null when there is none. */
  readonly note: string | null;
  /** Milliseconds since 1970. */
  readonly happenedAt: number;
};

export type ReportOutcome =
  | 'suppressed'
  | 'already'
  /** The owner has verified the address since. */
  | 'outdated'
  /** No data is held about the address, so the report is not stored either. */
  | 'unknown';

export type ReportParts = {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly complaints: Complaints;
  /** They learn of a lead's bounce. */
  readonly webhooks: Pick<Webhooks, 'queue' | 'wake'>;
};

/** Withdraws the consent of a lead who complained (server/consent/withdraw.ts). */
type Complaints = {
  readonly withdraw: (
    tx: Db,
    complaint: { leadId: string; happenedAt: number; now: number },
  ) => Promise<'withdrawn' | 'already' | 'outdated' | 'unknown'>;
};

/** A signature that counts for one call only. */
export type Once = {
  /** Its key in limit_windows. */
  readonly key: string;
  /** From then on it is refused for its age. Milliseconds since 1970. */
  readonly until: number;
};

/** Acts on one report. @param now milliseconds since 1970 */
export async function takeReport(
  parts: ReportParts,
  report: MailReport,
  now: number,
): Promise<ReportOutcome> {
  const outcome = await parts.database.db.transaction().execute((tx) => takeIn(tx, parts, report, now));
  parts.webhooks.wake();
  return outcome;
}

/**
 * Acts on the reports of one call, unless a call with the same key has counted before. Key and reports are one transaction, so
 * after a failure the provider's next try counts.
 * @param now milliseconds since 1970
 * @returns null when such a call has counted; nothing was changed then
 */
export async function takeReportsOnce(
  parts: ReportParts,
  { reports, once: { key, until } }: { readonly reports: readonly MailReport[]; readonly once: Once },
  now: number,
): Promise<readonly ReportOutcome[] | null> {
  const outcomes = await parts.database.db.transaction().execute(async (tx) => {
    if ((await countInWindowUpTo(tx, key, { limit: 1, windowMs: until - now }, now)) !== null) return null;
    const all: ReportOutcome[] = [];
    for (const report of reports) all.push(await takeIn(tx, parts, report, now));
    return all;
  });
  parts.webhooks.wake();
  return outcomes;
}

async function takeIn(
  tx: Db,
  { database, secrets, complaints, webhooks }: ReportParts,
  { reason, email: reported, note, happenedAt: reportedAt }: MailReport,
  now: number,
): Promise<ReportOutcome> {
  const email = normaliseEmail(reported);
  // A report from a clock that is ahead must not outlast a later verification.
  const happenedAt = Math.min(reportedAt, now);
  // A code may be entered for this address, or the address erased, at this moment.
  await lockAddress(tx, database.engine, email);
  const holder = await findHolder(tx, email);
  if (holder === null) return 'unknown';
  if (reason === 'complained' && holder.leadId !== null) {
    const outcome = await complaints.withdraw(tx, { leadId: holder.leadId, happenedAt, now });
    return outcome === 'withdrawn' ? 'suppressed' : outcome;
  }
  if (holder.lastVerifiedAt !== null && holder.lastVerifiedAt > happenedAt) return 'outdated';
  const keys = pseudonymsOf(secrets, email);
  const kept = note === null ? null : keptReply(note);
  if (!(await suppress(tx, { keys, reason, email, note: kept, now }))) return 'already';
  if (holder.leadId !== null) await webhooks.queue(tx, { type: 'lead.bounced', leadId: holder.leadId, now });
  return 'suppressed';
}

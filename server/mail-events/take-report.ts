// What is done about a report that is believed: the address goes on the list of who is not mailed; who complained is a lead no
// more who agreed. Doing it again changes nothing, and what is older than a consent that was verified since does nothing.
import { pseudonymsOf } from '#server/secrets/pseudonyms.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import { lockAddress } from '#server/db/tables/challenges.ts';
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { countInWindowUpTo } from '#server/db/tables/limit-windows.ts';
import { keptReply } from '#server/db/tables/outbox.ts';
import { findHolder } from '#server/db/across/returned-mail.ts';
import { suppress } from '#server/db/tables/suppressions.ts';
import { normaliseEmail } from '#shared/lead.ts';

/** That mail to an address came back for good, or that its reader called it spam. */
export type MailReport = {
  readonly reason: 'bounced' | 'complained';
  /** In any form. */
  readonly email: string;
  /** What a mail server said; null when it said nothing. */
  readonly note: string | null;
  /** Milliseconds since 1970. */
  readonly happenedAt: number;
};

/**
 * `unknown`: nothing is held about the address, so nothing is noted about it either. `outdated`: its owner proved it since.
 */
export type ReportOutcome = 'suppressed' | 'already' | 'outdated' | 'unknown';

export type ReportParts = {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly complaints: Complaints;
};

/** Takes back the consent of a lead who complained (server/visitors/unsubscribe/withdraw.ts). */
type Complaints = {
  readonly withdraw: (
    tx: Db,
    complaint: { leadId: string; happenedAt: number; now: number },
  ) => Promise<'withdrawn' | 'already' | 'outdated' | 'unknown'>;
  /** To be called after the commit. */
  readonly committed: () => void;
};

/** What may count once: its key in limit_windows, and from when on it is refused for its age (milliseconds since 1970). */
export type Once = { readonly key: string; readonly until: number };

/** Does what a report asks for. @param now milliseconds since 1970 */
export async function takeReport(
  parts: ReportParts,
  report: MailReport,
  now: number,
): Promise<ReportOutcome> {
  const outcome = await parts.database.db.transaction().execute((tx) => takeIn(tx, parts, report, now));
  parts.complaints.committed();
  return outcome;
}

/**
 * Does what the reports of one call ask for, if no call counted under the same key before. Key and reports are one transaction: a
 * failure gives the key back, so that the provider's next try counts.
 * @param now milliseconds since 1970
 * @returns null when one did; nothing was changed then
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
  parts.complaints.committed();
  return outcomes;
}

async function takeIn(
  tx: Db,
  { database, secrets, complaints }: ReportParts,
  { reason, email: reported, note, happenedAt: reportedAt }: MailReport,
  now: number,
): Promise<ReportOutcome> {
  const email = normaliseEmail(reported);
  // A clock that is ahead must not outdo what is proved meanwhile.
  const happenedAt = Math.min(reportedAt, now);
  // A code for this address, or its erasure, may be under way.
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
  return (await suppress(tx, { keys, reason, email, note: kept, now })) ? 'suppressed' : 'already';
}

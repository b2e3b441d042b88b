// Acts on a genuine report: a bounce suppresses the e-mail address, a complaint also withdraws consent.
import { pseudonymsOf } from '#server/secrets/secrets.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import { lockAddress, type Db, type OpenDatabase } from '#server/db/engine/connect.ts';
import { countInWindowUpTo } from '#server/db/tables/limit-windows.ts';
import { keptReply } from '#server/platform/mail-server-answers.ts';
import { findHolder } from '#server/db/contacts/people.ts';
import { suppress } from '#server/db/tables/suppressions.ts';
import type { Webhooks } from '#server/webhooks/webhooks.ts';
import { normaliseEmail } from '#shared/lead.ts';

export type MailReport = {
  readonly reason: 'bounced' | 'complained';
  /** Not yet normalised. */
  readonly email: string;
  readonly note: string | null;
  /** Milliseconds since 1970. */
  readonly happenedAt: number;
};

export type ReportOutcome =
  | 'suppressed'
  | 'already'
  /** The owner has verified the address since. */
  | 'outdated'
  /** Without data about the e-mail address, the report isn't stored either. */
  | 'unknown';

export type ReportParts = {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly complaints: Complaints;
  readonly webhooks: Pick<Webhooks, 'queue' | 'wake'>;
};

type Complaints = {
  readonly withdraw: (
    tx: Db,
    complaint: { leadId: string; happenedAt: number; now: number },
  ) => Promise<'withdrawn' | 'already' | 'outdated' | 'unknown'>;
};

export type Once = {
  readonly key: string;
  /** When its age makes it invalid. Milliseconds since 1970. */
  readonly until: number;
};

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
 * Key and reports share a transaction, so a failed call can be repeated.
 * @param now milliseconds since 1970
 * @returns null if the key was used before
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
  // A report from a fast clock must not outlast a later verification.
  const happenedAt = Math.min(reportedAt, now);
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

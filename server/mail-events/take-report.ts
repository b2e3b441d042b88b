// What is done about a report that is believed: the address goes on the list of who is not mailed; who complained is a lead no
// more who agreed. Doing it again changes nothing, and what is older than a consent that was verified since does nothing.
import { pseudonymsOf } from '#server/access/pseudonyms.ts';
import type { Secrets } from '#server/access/secrets.ts';
import { lockAddress } from '#server/db/challenges.ts';
import type { OpenDatabase } from '#server/db/connect.ts';
import { keptReply } from '#server/db/outbox.ts';
import { findHolder } from '#server/db/returned-mail.ts';
import { suppress } from '#server/db/suppressions.ts';
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
  /** Takes the consent of a lead back who complained (server/unsubscribe/withdraw.ts). */
  readonly withdraw: (complaint: {
    leadId: string;
    happenedAt: number;
    now: number;
  }) => Promise<'withdrawn' | 'already' | 'outdated' | 'unknown'>;
};

/** Does what a report asks for. @param now milliseconds since 1970 */
export async function takeReport(
  { database, secrets, withdraw }: ReportParts,
  { reason, email: told, note, happenedAt: toldAt }: MailReport,
  now: number,
): Promise<ReportOutcome> {
  const email = normaliseEmail(told);
  // A clock that is ahead must not outdo what is proved meanwhile.
  const happenedAt = Math.min(toldAt, now);
  const holder = await findHolder(database.db, email);
  if (reason === 'complained' && holder?.leadId) {
    const outcome = await withdraw({ leadId: holder.leadId, happenedAt, now });
    return outcome === 'withdrawn' ? 'suppressed' : outcome;
  }
  return database.db.transaction().execute(async (tx) => {
    // A code for this address, or its erasure, may be under way.
    await lockAddress(tx, database.engine, email);
    const found = await findHolder(tx, email);
    if (found === null) return 'unknown';
    if (found.lastVerifiedAt !== null && found.lastVerifiedAt > happenedAt) return 'outdated';
    const keys = pseudonymsOf(secrets, email);
    const kept = note === null ? null : keptReply(note);
    return (await suppress(tx, { keys, reason, email, note: kept, now })) ? 'suppressed' : 'already';
  });
}

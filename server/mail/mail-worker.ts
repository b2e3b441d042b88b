// Requests wake the worker and never wait for SMTP.
import { type Db, acquireLocks } from '#server/db/engine/connect.ts';
import type { OutboxState } from '#server/db/all-tables.ts';
import { findLeadId } from '#server/db/tables/leads.ts';
import { REFUSES_US, refusesEverybody } from '#server/db/tables/outbox.ts';
import { suppress, suppressionsOf } from '#server/db/tables/suppressions.ts';
import { type MailJob, SMTP_CONNECTIONS, takeMail } from '#server/jobs/mail-jobs.ts';
import { endLease } from '#server/jobs/queue.ts';
import { backOffMs, type JobWorker, startJobWorker } from '#server/jobs/worker.ts';
import { createConnectionShares } from '#server/mail/connection-shares.ts';
import type { Mailer } from '#server/mail/mailer.ts';
import { codeKind } from '#server/mail/templates/code-mail.ts';
import { deskCodeKind } from '#server/mail/templates/desk-code-mail.ts';
import { digestKind } from '#server/mail/templates/daily-weekly-digest.ts';
import { guideKind } from '#server/mail/templates/guide-mail.ts';
import type { LetterKind, LetterParts } from '#server/mail/templates/letter.ts';
import { newLeadKind } from '#server/mail/templates/new-lead-mail.ts';
import { noticeKind } from '#server/mail/templates/notice-mail.ts';
import { reportKind } from '#server/mail/templates/report-on-request.ts';
import { isAboutAddress, storedReply } from '#server/platform/mail-server-replies.ts';
import { pseudonymsOf } from '#server/secrets/secrets.ts';
import { normaliseEmail } from '#shared/lead.ts';

const STOP_TIMEOUT_MS = 5_000;

export function startMailWorker(
  parts: DeliveryParts & { readonly onError: (error: unknown) => void },
): JobWorker {
  const { database, clock, onError } = parts;
  const shares = createConnectionShares(SMTP_CONNECTIONS, clock);
  return startJobWorker({
    database,
    table: 'outbox',
    clock,
    stopTimeoutMs: STOP_TIMEOUT_MS,
    take: async (lease) =>
      shares.freeConnections() < 1
        ? []
        : // Takes one mail at a time, because a mail may fill a lane, whose other mail must then wait.
          takeMail(database.db, { ...lease, limit: 1, fullLanes: shares.fullLanes() }),
    run: async (mail, worker) => {
      // Before the first await, because `take` runs again at once.
      const release = shares.acquire(mail);
      try {
        await deliverMail(parts, mail, worker);
      } finally {
        release();
      }
    },
    onError,
  });
}

// A new kind of letter needs a file in templates/ with its handler and queueing function, and a line here.
const KINDS: Readonly<Record<string, LetterKind | undefined>> = {
  code: codeKind,
  guide: guideKind,
  notice: noticeKind,
  'new-lead': newLeadKind,
  digest: digestKind,
  'desk-code': deskCodeKind,
  report: reportKind,
};

const DELIVERY_TIMEOUT_MS = 25_000;
/** Sending ends this long before the lease, so no other process takes over a mail that is being sent. */
const LEASE_MARGIN_MS = 5_000;

/** Logged, so it omits the recipient, and the reply, because mail servers often repeat the e-mail address in their replies. */
export type MailEvent =
  | { readonly type: 'sent'; readonly queuedForMs: number }
  | { readonly type: 'dropped' }
  | { readonly type: 'failed for now' | 'refused'; readonly errorClass: string };

export type DeliveryParts = LetterParts & {
  readonly mailer: Mailer;
  readonly clock: () => number;
  readonly random: () => number;
  /** Runs in the transaction that suppresses a lead's dead e-mail address. */
  readonly onLeadBounced: (
    tx: Db,
    bounce: { readonly leadId: string; readonly now: number },
  ) => Promise<void>;
  readonly onEvent: (event: MailEvent) => void;
};

async function deliverMail(
  parts: DeliveryParts,
  mail: MailJob,
  { leaseId, stopSignal }: { leaseId: string; stopSignal: AbortSignal },
): Promise<void> {
  const { database, mailer, clock, onEvent } = parts;
  const { db } = database;
  const { id, recipient } = mail;

  const finish = (state: Exclude<OutboxState, 'queued'>, reply: string, tx = db): Promise<boolean> =>
    endLease(tx, 'outbox', { id, leaseId }, { state, reply: storedReply(reply), finished_at: clock() });

  const kind = KINDS[mail.kind];
  // Its lease expires, so it waits for the release that knows its kind, and is reported until then.
  if (kind === undefined) throw new Error(`This release knows no mail of the kind "${mail.kind}".`);
  const composedAt = clock();
  const isInTime = composedAt - mail.created_at < kind.maxAgeMs(parts);
  const isWanted = isInTime && !(kind.respectsSuppression && (await isSuppressed(parts, recipient)));
  const letter = isWanted ? await kind.compose(parts, mail, composedAt) : null;
  if (letter === null) {
    // Mail retried after a permanent refusal (REFUSES_US) probably expired because of that refusal, so it counts as refused.
    const isRefused = mail.error_class === REFUSES_US;
    await finish(isRefused ? 'failed' : 'dropped', mail.reply ?? 'no longer valid');
    onEvent(isRefused ? { type: 'refused', errorClass: REFUSES_US } : { type: 'dropped' });
    return;
  }
  // Composing waits for the database, and the process may have been suspended.
  const timeLeftMs = (mail.leased_until ?? 0) - LEASE_MARGIN_MS - clock();
  if (timeLeftMs <= 0) return;
  const timeout = AbortSignal.timeout(Math.min(timeLeftMs, DELIVERY_TIMEOUT_MS));
  const signal = AbortSignal.any([stopSignal, timeout]);
  const sent = await mailer.send({ ...letter, id, to: recipient, kind: mail.kind }, signal);
  const now = clock();
  // If all mail is refused, the operator may correct the account before this mail expires.
  const outcome =
    sent.type === 'refused' && !isAboutAddress(sent.reason) && (await refusesEverybody(db, now))
      ? ({ type: 'failed for now', reason: sent.reason, errorClass: REFUSES_US } as const)
      : sent;
  switch (outcome.type) {
    case 'sent':
      await finish('sent', outcome.reply);
      onEvent({ type: 'sent', queuedForMs: now - mail.created_at });
      return;
    case 'refused':
      if (outcome.meaning === 'no such address')
        await suppressDeadAddress(parts, { recipient, reply: outcome.reason, now }, (tx) =>
          finish('failed', outcome.reason, tx),
        );
      else await finish('failed', outcome.reason);
      onEvent({ type: 'refused', errorClass: outcome.errorClass });
      return;
    case 'failed for now': {
      const dueAt = stopSignal.aborted ? now : now + backOffMs(WAITS_MS, mail.attempts, parts.random);
      const times = { due_at: dueAt, turn_at: Math.max(mail.turn_at, dueAt) };
      const failure = { reply: storedReply(outcome.reason), error_class: outcome.errorClass };
      await endLease(db, 'outbox', { id, leaseId }, { ...times, ...failure });
      onEvent({ type: 'failed for now', errorClass: outcome.errorClass });
    }
  }
}

/** These are short, because a code is valid for minutes. */
const WAITS_MS = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000];

async function isSuppressed({ secrets, database }: DeliveryParts, recipient: string): Promise<boolean> {
  const email = normaliseEmail(recipient);
  return (await suppressionsOf(database.db, { keys: pseudonymsOf(secrets, email), email })).length > 0;
}

/** Suppresses a dead e-mail address. Requested codes are still mailed to it. */
async function suppressDeadAddress(
  { database: { db }, secrets, onLeadBounced }: DeliveryParts,
  { recipient, reply, now }: { recipient: string; reply: string; now: number },
  finish: (tx: Db) => Promise<boolean>,
): Promise<void> {
  const email = normaliseEmail(recipient);
  await db.transaction().execute(async (tx) => {
    // The lock prevents adding a row for an e-mail address that is being erased.
    await acquireLocks(tx, email);
    if (!(await finish(tx))) return;
    const keys = pseudonymsOf(secrets, email);
    if (!(await suppress(tx, { keys, reason: 'bounced', email, note: storedReply(reply), now }))) return;
    const leadId = await findLeadId(tx, email);
    if (leadId !== undefined) await onLeadBounced(tx, { leadId, now });
  });
}

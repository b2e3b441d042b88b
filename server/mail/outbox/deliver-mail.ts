// Sends one mail that this process has leased, and stores the result in its row: sent, dropped, failed for good, or to be tried again.
import { lockAddress } from '#server/db/engine/address-lock.ts';
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import type { OutboxState } from '#server/db/schema.ts';
import { findLeadId } from '#server/db/tables/leads.ts';
import { REFUSES_US, refusesEverybody, UNKNOWN_KIND } from '#server/db/tables/outbox.ts';
import { suppress, suppressionsOf } from '#server/db/tables/suppressions.ts';
import type { MailJob } from '#server/jobs/mail-jobs.ts';
import { finishJob, retryJob } from '#server/jobs/queue.ts';
import { backOffMs } from '#server/jobs/worker.ts';
import type { LetterParts } from '#server/mail/templates/letter-kind.ts';
import type { Mailer } from '#server/mail/mailer.ts';
import { isAboutAddress, keptReply } from '#server/platform/mail-server-answers.ts';
import { pseudonymsOf } from '#server/secrets/pseudonyms.ts';
import { findLetterKind } from '#server/mail/outbox/letter-kinds.ts';
import { normaliseEmail } from '#shared/lead.ts';

/** Shorter than a lease, so that no other process takes up a mail that is still being sent. */
const DELIVERY_TIMEOUT_MS = 25_000;
/** How long a kind that only a newer release knows waits until it is looked at again. */
const UNKNOWN_KIND_WAIT_MS = 30_000;

export type MailEvent =
  | { readonly type: 'sent'; readonly queuedForMs: number }
  | { readonly type: 'dropped' }
  | {
      readonly type: 'failed for now';
      readonly reason: string;
      readonly errorClass: string;
      readonly attempts: number;
    }
  | { readonly type: 'refused'; readonly reason: string; readonly errorClass: string };

export type DeliveryParts = Omit<LetterParts, 'db' | 'engine'> & {
  readonly database: OpenDatabase;
  readonly mailer: Mailer;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** From 0 up to 1, for jitter. */
  readonly random: () => number;
  /** Called in the transaction that suppresses a lead's address because it does not exist. now: milliseconds since 1970 */
  readonly onLeadBounced: (
    tx: Db,
    bounce: { readonly leadId: string; readonly now: number },
  ) => Promise<void>;
  /** Reports the result of each attempt, without the recipient. */
  readonly onEvent: (event: MailEvent) => void;
};

/** Sends a mail. @param worker leaseId: of the worker that has leased it; cutOff: aborts when the worker stops */
export async function deliverMail(
  parts: DeliveryParts,
  mail: MailJob,
  { leaseId, cutOff }: { leaseId: string; cutOff: AbortSignal },
): Promise<void> {
  const { database, mailer, clock, onEvent } = parts;
  const { db, engine } = database;
  const { id, recipient } = mail;

  const finish = (state: Exclude<OutboxState, 'queued'>, reply: string, tx = db): Promise<boolean> =>
    finishJob(tx, 'outbox', { id, leaseId, now: clock(), result: { state, reply: keptReply(reply) } });
  const retry = (reason: string, errorClass: string, dueAt: number): Promise<boolean> => {
    const turnAt = Math.max(mail.turn_at, dueAt);
    const changes = { reply: keptReply(reason), error_class: errorClass, turn_at: turnAt };
    return retryJob(db, 'outbox', { id, leaseId, dueAt, reason: changes });
  };

  const kind = findLetterKind(mail.kind);
  if (kind === undefined) {
    const reason = `no process that looked knows the kind "${mail.kind}"`;
    await retry(reason, UNKNOWN_KIND, clock() + UNKNOWN_KIND_WAIT_MS);
    return;
  }
  const letterParts: LetterParts = { ...parts, db, engine };
  const composedAt = clock();
  const isInTime = composedAt - mail.created_at < kind.mayWaitMs(letterParts);
  const isWanted = isInTime && !(kind.respectsSuppression && (await isSuppressed(parts, recipient)));
  const letter = isWanted ? await kind.compose(letterParts, mail, composedAt) : null;
  if (letter === null) {
    // The reply that put it off says more about why it came to nothing.
    await finish(mail.error_class === REFUSES_US ? 'failed' : 'dropped', mail.reply ?? 'no longer valid');
    onEvent({ type: 'dropped' });
    return;
  }
  const sent = await withinTime(cutOff, (signal) =>
    mailer.send({ ...letter, id, to: recipient, kind: mail.kind }, signal),
  );
  const now = clock();
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
        await suppressDead(parts, { recipient, reply: outcome.reason, now }, (tx) =>
          finish('failed', outcome.reason, tx),
        );
      else await finish('failed', outcome.reason);
      onEvent(outcome);
      return;
    case 'failed for now': {
      const dueAt = cutOff.aborted ? now : now + backOffMs(WAITS_MS, mail.attempts, parts.random);
      await retry(outcome.reason, outcome.errorClass, dueAt);
      onEvent({ ...outcome, attempts: mail.attempts });
    }
  }
}

/** Waits before the second attempt, the third and so on; the last one repeats. A code lives for minutes, so they stay short. */
const WAITS_MS = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000];

async function isSuppressed({ secrets, database }: DeliveryParts, recipient: string): Promise<boolean> {
  const email = normaliseEmail(recipient);
  return (await suppressionsOf(database.db, { keys: pseudonymsOf(secrets, email), email })).length > 0;
}

/** Ends a mail whose address does not exist and suppresses the address. A code that a visitor asks for is still mailed. */
async function suppressDead(
  { database: { db, engine }, secrets, onLeadBounced }: DeliveryParts,
  { recipient, reply, now }: { recipient: string; reply: string; now: number },
  finish: (tx: Db) => Promise<boolean>,
): Promise<void> {
  const email = normaliseEmail(recipient);
  await db.transaction().execute(async (tx) => {
    // The address may be erased at this moment; no new row may hold it afterwards.
    await lockAddress(tx, engine, email);
    if (!(await finish(tx))) return;
    const keys = pseudonymsOf(secrets, email);
    if (!(await suppress(tx, { keys, reason: 'bounced', email, note: keptReply(reply), now }))) return;
    const leadId = await findLeadId(tx, email);
    if (leadId !== undefined) await onLeadBounced(tx, { leadId, now });
  });
}

/** Aborts work that takes too long or outlives its worker. AbortSignal.timeout would keep each signal for its whole time. */
async function withinTime<Result>(
  cutOff: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController();
  const end = () => ending.abort();
  const timer = setTimeout(end, DELIVERY_TIMEOUT_MS);
  cutOff.addEventListener('abort', end);
  if (cutOff.aborted) end();
  try {
    return await work(ending.signal);
  } finally {
    clearTimeout(timer);
    cutOff.removeEventListener('abort', end);
  }
}

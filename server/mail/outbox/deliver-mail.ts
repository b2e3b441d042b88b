// Sends one mail that this process has leased, and notes the result in its row: sent, dropped, failed for good, or due again
// later. It does not choose the mail; mail-worker.ts does.
import { backOffMs } from '#server/platform/queue-worker.ts';
import { pseudonymsOf } from '#server/secrets/pseudonyms.ts';
import { lockAddress } from '#server/db/engine/address-lock.ts';
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { finishMail, keptReply, releaseMail } from '#server/db/tables/outbox-leases.ts';
import { findLeadId } from '#server/db/tables/leads.ts';
import { REFUSES_US, refusesEverybody, UNKNOWN_KIND } from '#server/db/tables/outbox-waiting.ts';
import { suppress, suppressionsOf } from '#server/db/tables/suppressions.ts';
import type { Mailer } from '#server/mail/mailer.ts';
import type { LetterParts, MailInHand } from '#server/mail/letters/letter-kind.ts';
import type { MailLanes } from '#server/mail/outbox/connection-shares.ts';
import { isAboutAddress } from '#server/platform/mail-server-answers.ts';
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
  /** Reports the result of each try, and in which lanes the mail was, without the recipient. */
  readonly onEvent: (event: MailEvent, lanes: MailLanes) => void;
};

/**
 * Makes the function that sends a mail.
 * @param lease leaseId: of the worker that holds the mails; cutOff: aborts when the worker stops
 */
export function createDelivery(
  parts: DeliveryParts,
  { leaseId, cutOff }: { leaseId: string; cutOff: AbortSignal },
): (mail: MailInHand) => Promise<void> {
  const { database, mailer, clock, onEvent } = parts;
  const { db, engine } = database;
  const letterParts: LetterParts = { ...parts, db, engine };

  const isSuppressed = async (recipient: string): Promise<boolean> => {
    const address = { keys: pseudonymsOf(parts.secrets, recipient), email: normaliseEmail(recipient) };
    return (await suppressionsOf(db, address)).length > 0;
  };

  /** Ends a mail whose address does not exist and suppresses the address. A code that a visitor asks for is still mailed. */
  const finishDead = async (recipient: string, failed: Parameters<typeof finishMail>[1]): Promise<void> => {
    const email = normaliseEmail(recipient);
    await db.transaction().execute(async (tx) => {
      // The address may be erased at this moment; no new row may hold it afterwards.
      await lockAddress(tx, engine, email);
      if (!(await finishMail(tx, failed))) return;
      const keys = pseudonymsOf(parts.secrets, email);
      const { reply, now } = failed;
      if (!(await suppress(tx, { keys, reason: 'bounced', email, note: keptReply(reply), now }))) return;
      const leadId = await findLeadId(tx, email);
      if (leadId !== undefined) await parts.onLeadBounced(tx, { leadId, now });
    });
  };

  return async (mail) => {
    const { id, turn_at, recipient } = mail;
    const kind = findLetterKind(mail.kind);
    if (kind === undefined) {
      const dueAt = clock() + UNKNOWN_KIND_WAIT_MS;
      const reply = `no process that looked knows the kind "${mail.kind}"`;
      await releaseMail(db, { id, turn_at, leaseId, dueAt, reply, errorClass: UNKNOWN_KIND });
      return;
    }
    const composedAt = clock();
    const isInTime = composedAt - mail.created_at < kind.mayWaitMs(letterParts);
    const isWanted = isInTime && !(kind.respectsSuppression && (await isSuppressed(recipient)));
    const letter = isWanted ? await kind.compose(letterParts, mail, composedAt) : null;
    if (letter === null) {
      // The reply that put it off says more about why it came to nothing.
      const reply = mail.reply ?? 'no longer valid';
      const state = mail.error_class === REFUSES_US ? 'failed' : 'dropped';
      await finishMail(db, { id, leaseId, state, reply, now: clock() });
      onEvent({ type: 'dropped' }, mail);
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
        await finishMail(db, { id, leaseId, state: 'sent', reply: outcome.reply, now });
        onEvent({ type: 'sent', queuedForMs: now - mail.created_at }, mail);
        return;
      case 'refused': {
        const failed = { id, leaseId, state: 'failed', reply: outcome.reason, now } as const;
        if (outcome.meaning === 'no such address') await finishDead(recipient, failed);
        else await finishMail(db, failed);
        onEvent(outcome, mail);
        return;
      }
      case 'failed for now': {
        const { reason: reply, errorClass } = outcome;
        const dueAt = cutOff.aborted ? now : now + mailRetryMs(mail.attempts, parts.random);
        await releaseMail(db, { id, turn_at, leaseId, dueAt, reply, errorClass });
        onEvent({ ...outcome, attempts: mail.attempts }, mail);
      }
    }
  };
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

/** Waits before the second try, the third and so on; the last one repeats. A code lives for minutes, so they stay short. */
const WAITS_MS = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000];

/** How long to wait before the next try, in milliseconds. @param attempts tries made so far */
const mailRetryMs = (attempts: number, random: () => number): number => backOffMs(WAITS_MS, attempts, random);

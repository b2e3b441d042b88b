// Mail waiting to be sent. A worker takes a row by leasing it: if its process dies, the lease runs out and another
// one takes the row up again. Delivery is at least once.
import type { Selectable } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/connect.ts';
import { lowestIdAt } from '#server/db/ids.ts';
import type { OutboxState, Schema } from '#server/db/schema.ts';

export type OutboxMail = Selectable<Schema['outbox']>;

/** Queues the e-mail that carries a code. */
export async function queueCodeMail(
  tx: Db,
  mail: { id: string; codeId: string; recipient: string; now: number },
): Promise<void> {
  const { id, codeId, recipient, now } = mail;
  await tx
    .insertInto('outbox')
    .values({ id, code_id: codeId, recipient, due_at: now, created_at: now })
    .execute();
}

/** Queues a notice to the operator. */
export async function queueNotice(
  db: Db,
  mail: { id: string; recipient: string; subject: string; text: string; now: number },
): Promise<void> {
  const { id, recipient, subject, text, now } = mail;
  await db
    .insertInto('outbox')
    .values({ id, notice: JSON.stringify({ subject, text }), recipient, due_at: now, created_at: now })
    .execute();
}

/** How much mail waits, and since when the oldest of it does; undefined when none waits. */
export async function outboxBacklog(db: Db): Promise<{ depth: number; oldestCreatedAt: number | undefined }> {
  const row = await db
    .selectFrom('outbox')
    .select((eb) => [eb.fn.countAll().as('depth'), eb.fn.min('created_at').as('oldest')])
    .where('state', '=', 'queued')
    .executeTakeFirstOrThrow();
  return { depth: Number(row.depth), oldestCreatedAt: row.oldest ?? undefined };
}

const STUCK_AFTER_MS = 120_000;
/** One mail server's "not now" says something about one recipient; of so many, about us. */
const DEFERRALS_THAT_MATTER = 5;
/** A mail that is sent now was queued within this time: codes do not live longer by default. */
const QUEUED_WITHIN_MS = 15 * 60_000;

/**
 * Whether mail as such no longer goes out: some has waited for two minutes, none was sent meanwhile, and it is not just
 * that the servers of a few recipients asked for patience, which any stranger can bring about.
 */
export async function isOutboxStuck(db: Db, now: number): Promise<boolean> {
  const old = db
    .selectFrom('outbox')
    .select('id')
    .where('state', '=', 'queued')
    .where('created_at', '<=', now - STUCK_AFTER_MS);
  const failing = await old
    .where((eb) => eb.or([eb('error_class', 'is', null), eb('error_class', '!=', '4xx')]))
    .limit(1)
    .execute();
  const waiting = failing.length > 0 ? failing : await old.limit(DEFERRALS_THAT_MATTER).execute();
  if (failing.length === 0 && waiting.length < DEFERRALS_THAT_MATTER) return false;
  const sent = await db
    .selectFrom('outbox')
    .select('id')
    .where('id', '>=', lowestIdAt(now - QUEUED_WITHIN_MS))
    .where('state', '=', 'sent')
    .where('finished_at', '>', now - STUCK_AFTER_MS)
    .limit(1)
    .executeTakeFirst();
  return sent === undefined;
}

/**
 * Leases due mail. A row leased by somebody else counts as due again once that lease has run out.
 * @param most how many rows to take
 * @param leaseMs how long nobody else may take them
 */
export async function leaseDueMail(
  { db, engine }: Pick<OpenDatabase, 'db' | 'engine'>,
  { leaseId, most, leaseMs, now }: { leaseId: string; most: number; leaseMs: number; now: number },
): Promise<OutboxMail[]> {
  return db
    .with('due', (cte) => {
      const due = cte
        .selectFrom('outbox')
        .select('id')
        .where('state', '=', 'queued')
        .where('due_at', '<=', now)
        .where((eb) => eb.or([eb('leased_until', 'is', null), eb('leased_until', '<=', now)]))
        .orderBy('due_at')
        .limit(most);
      return engine === 'postgres' ? due.forUpdate().skipLocked() : due;
    })
    .updateTable('outbox')
    .set((eb) => ({ leased_until: now + leaseMs, lease_id: leaseId, attempts: eb('attempts', '+', 1) }))
    .where('id', 'in', (eb) => eb.selectFrom('due').select('due.id'))
    .returningAll()
    .execute();
}

/** Longer than the worker ever waits before it tries again, and than a lease lasts. */
const FARTHEST_DUE_MS = 120_000;

/**
 * Makes mail due that a clock which has been set back since put off far into the future. To be called when a worker starts,
 * and when it sees the clock go back.
 * @param leaseId of the worker, which will finish by itself what it has in hand
 */
export async function dropFutureTimes(
  db: Db,
  { leaseId, now }: { leaseId: string; now: number },
): Promise<void> {
  const farthest = now + FARTHEST_DUE_MS;
  await db
    .updateTable('outbox')
    .set({ due_at: now, leased_until: null, lease_id: null })
    .where('state', '=', 'queued')
    .where((eb) => eb.or([eb('due_at', '>', farthest), eb('leased_until', '>', farthest)]))
    .where((eb) => eb.or([eb('lease_id', 'is', null), eb('lease_id', '!=', leaseId)]))
    .execute();
}

/** Ends a mail's way: sent, dropped or failed for good. Only the holder of the lease may. */
export async function finishMail(
  db: Db,
  mail: { id: string; leaseId: string; state: Exclude<OutboxState, 'queued'>; reply: string; now: number },
): Promise<void> {
  await db
    .updateTable('outbox')
    .set({ state: mail.state, reply: mail.reply, finished_at: mail.now, leased_until: null, lease_id: null })
    .where('id', '=', mail.id)
    .where('lease_id', '=', mail.leaseId)
    .execute();
}

/** Gives a mail back, to be tried again at `dueAt`. Only the holder of the lease may. */
export async function releaseMail(
  db: Db,
  mail: { id: string; leaseId: string; dueAt: number; reply: string; errorClass: string },
): Promise<void> {
  await db
    .updateTable('outbox')
    .set({
      due_at: mail.dueAt,
      leased_until: null,
      lease_id: null,
      reply: mail.reply,
      error_class: mail.errorClass,
    })
    .where('id', '=', mail.id)
    .where('lease_id', '=', mail.leaseId)
    .execute();
}

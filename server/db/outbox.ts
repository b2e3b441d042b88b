// Mail waiting to be sent. A worker takes a row by leasing it: if its process dies, the lease runs out and another
// one takes the row up again. Delivery is at least once.
import type { Selectable } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/connect.ts';
import type { OutboxState, Schema } from '#server/db/schema.ts';

export type OutboxMail = Selectable<Schema['outbox']>;

export async function queueMail(
  tx: Db,
  mail: { id: string; codeId: string; recipient: string; now: number },
): Promise<void> {
  await tx
    .insertInto('outbox')
    .values({
      id: mail.id,
      code_id: mail.codeId,
      recipient: mail.recipient,
      due_at: mail.now,
      created_at: mail.now,
    })
    .execute();
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
  mail: { id: string; leaseId: string; dueAt: number; reply: string | null },
): Promise<void> {
  await db
    .updateTable('outbox')
    .set({ due_at: mail.dueAt, leased_until: null, lease_id: null, reply: mail.reply })
    .where('id', '=', mail.id)
    .where('lease_id', '=', mail.leaseId)
    .execute();
}

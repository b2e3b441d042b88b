// Takes mail out of the outbox: a worker leases a row, and finishes it or gives it back. If its process dies, the lease runs out and another
// one takes the row up again. Delivery is at least once.
import { sql } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { columnsOf } from '#server/db/all-tables.ts';
import type { OutboxState } from '#server/db/schema.ts';
import { isQueued, type OutboxRow } from '#server/db/tables/outbox.ts';

/** Networks and recipient domains that may hold no more connections for now. */
export type FullLanes = { readonly networks: readonly string[]; readonly domains: readonly string[] };

/**
 * Leases due mail, in the order of turns. A row counts as due again once its lease has run out.
 * @param most how many rows to take
 * @param leaseMs how long no other worker may take them
 * @param full whose mail to leave
 */
export async function leaseDueMail(
  { db, engine }: Pick<OpenDatabase, 'db' | 'engine'>,
  {
    leaseId,
    most,
    leaseMs,
    now,
    full = { networks: [], domains: [] },
  }: { leaseId: string; most: number; leaseMs: number; now: number; full?: FullLanes },
): Promise<OutboxRow[]> {
  // A list is one parameter, however long, so that the statement stays the same.
  const isAmong = (column: 'network' | 'recipient_domain', list: readonly string[]) => {
    const json = JSON.stringify(list);
    return engine === 'postgres'
      ? sql<boolean>`${sql.ref(column)} in (select jsonb_array_elements_text(${json}::jsonb))`
      : sql<boolean>`${sql.ref(column)} in (select value from json_each(${json}))`;
  };
  return db
    .with('due', (cte) =>
      cte
        .selectFrom('outbox')
        .select('id')
        .where(isQueued)
        // In an outage everything waits for its next try: then this alone is looked up, and it is one step.
        .where((eb) =>
          eb.exists(
            eb
              .selectFrom('outbox as any_due')
              .select('any_due.id')
              .where(sql<boolean>`any_due.state = 'queued'`)
              .where('any_due.due_at', '<=', now)
              .where((or) =>
                or.or([or('any_due.leased_until', 'is', null), or('any_due.leased_until', '<=', now)]),
              ),
          ),
        )
        // All rows, read in the order of turns up to the first that is due: this condition, and the "+ 0" that keeps the next
        // one from being looked up, have both engines do so.
        .where('turn_at', '>=', 0)
        .where(sql<boolean>`due_at + 0 <= ${now}`)
        .where((eb) => eb.or([eb('leased_until', 'is', null), eb('leased_until', '<=', now)]))
        .where((eb) => eb.or([eb('network', 'is', null), eb.not(isAmong('network', full.networks))]))
        .where((eb) =>
          eb.or([eb('recipient_domain', 'is', null), eb.not(isAmong('recipient_domain', full.domains))]),
        )
        .orderBy('turn_at')
        .orderBy('id')
        .limit(most)
        .$if(engine === 'postgres', (query) => query.forUpdate().skipLocked()),
    )
    .updateTable('outbox')
    .set((eb) => ({ leased_until: now + leaseMs, lease_id: leaseId, attempts: eb('attempts', '+', 1) }))
    .where('id', 'in', (eb) => eb.selectFrom('due').select('due.id'))
    .returning(columnsOf('outbox'))
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

const REPLY_MAX_LENGTH = 500;

/** Cleans a mail server's reply, so that PostgreSQL can store it and an operator can read it. */
export const keptReply = (reply: string): string =>
  reply
    // No more than can matter, before anything looks at every character.
    .slice(0, 4 * REPLY_MAX_LENGTH)
    .toWellFormed()
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, REPLY_MAX_LENGTH)
    .toWellFormed();

type Finish = {
  readonly id: string;
  readonly leaseId: string;
  readonly state: Exclude<OutboxState, 'queued'>;
  readonly reply: string;
  readonly now: number;
};

/**
 * Ends a mail's way: sent, dropped or failed for good. Only the holder of the lease may.
 * @returns false when another worker had the lease by then, or the mail was erased
 */
export async function finishMail(db: Db, { id, leaseId, state, reply, now }: Finish): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('outbox')
    .set({ state, reply: keptReply(reply), finished_at: now, leased_until: null, lease_id: null })
    .where('id', '=', id)
    .where('lease_id', '=', leaseId)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Gives a mail back that was leased and not tried. Only the holder of the lease may. */
export async function giveMailBack(db: Db, mail: { id: string; leaseId: string }): Promise<void> {
  await db
    .updateTable('outbox')
    .set((eb) => ({ leased_until: null, lease_id: null, attempts: eb('attempts', '-', 1) }))
    .where('id', '=', mail.id)
    .where('lease_id', '=', mail.leaseId)
    .execute();
}

/** Gives a mail back, to be tried again at `dueAt`. Only the holder of the lease may. */
export async function releaseMail(
  db: Db,
  mail: Pick<OutboxRow, 'id' | 'turn_at'> & {
    leaseId: string;
    dueAt: number;
    reply: string;
    errorClass: string;
  },
): Promise<void> {
  await db
    .updateTable('outbox')
    .set({
      due_at: mail.dueAt,
      turn_at: Math.max(mail.turn_at, mail.dueAt),
      leased_until: null,
      lease_id: null,
      reply: keptReply(mail.reply),
      error_class: mail.errorClass,
    })
    .where('id', '=', mail.id)
    .where('lease_id', '=', mail.leaseId)
    .execute();
}

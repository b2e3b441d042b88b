// Events for other programs about leads: queued in the transaction of its cause, taken by leases as mail is (outbox.ts), in
// order for each lead and endpoint.
import { sql, type Selectable } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import type { LeadEventType, Schema, WebhookState } from '#server/db/schema.ts';

type WebhookEvent = Selectable<Schema['webhook_events']>;

// Written out, not bound: the partial indexes are found by them.
const isQueued = sql<boolean>`state = 'queued'`;
const isDead = sql<boolean>`state = 'dead'`;

/** The columns that sending needs. */
const TAKEN = ['id', 'type', 'lead_id', 'endpoint', 'position', 'payload', 'attempts', 'queued_at'] as const;
export type TakenEvent = Pick<WebhookEvent, (typeof TAKEN)[number]>;

/**
 * Queues an event about a lead for several endpoints, behind those that the lead has already. The caller holds the lead, so that
 * no other event of it comes between.
 * @param event ids: one for each endpoint; notBefore, now: milliseconds since 1970
 */
export async function insertLeadEvent(
  tx: Db,
  {
    ids,
    type,
    leadId,
    payload,
    endpoints,
    notBefore,
    now,
  }: {
    ids: readonly string[];
    type: LeadEventType;
    leadId: string;
    payload: string;
    endpoints: readonly string[];
    notBefore: number;
    now: number;
  },
): Promise<void> {
  // A new lead has none, and nobody else knows it yet.
  const before =
    type === 'lead.verified'
      ? []
      : await tx
          .selectFrom('webhook_events')
          .select([
            'endpoint',
            sql<number>`max(position)`.as('position'),
            sql<number | null>`max(case when state = 'queued' then due_at end)`.as('due_at'),
          ])
          .where('lead_id', '=', leadId)
          .groupBy('endpoint')
          .execute();
  const position = 1 + Math.max(0, ...before.map((event) => event.position));
  const rows = endpoints.map((endpoint, index) => ({
    id: ids[index]!,
    type,
    lead_id: leadId,
    endpoint,
    position,
    payload,
    // What waits behind another one is not looked at each time.
    due_at: Math.max(notBefore, before.find((event) => event.endpoint === endpoint)?.due_at ?? 0),
    created_at: now,
    queued_at: now,
  }));
  if (rows.length > 0) await tx.insertInto('webhook_events').values(rows).execute();
}

/**
 * Leases the due events of one endpoint, the ones that waited longest first: of each lead the first that waits. A row leased by
 * another worker counts as due again once that lease has run out.
 */
export async function leaseDueEvents(
  { db, engine }: Pick<OpenDatabase, 'db' | 'engine'>,
  {
    endpoint,
    leaseId,
    leasedUntil,
    now,
    most,
  }: { endpoint: string; leaseId: string; leasedUntil: number; now: number; most: number },
): Promise<TakenEvent[]> {
  return db
    .with('due', (cte) =>
      cte
        .selectFrom('webhook_events')
        .select('id')
        .where(isQueued)
        .where('endpoint', '=', endpoint)
        .where('due_at', '<=', now)
        .where((eb) => eb.or([eb('leased_until', 'is', null), eb('leased_until', '<=', now)]))
        // One that is on its way is queued as well.
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom('webhook_events as earlier')
                .select('earlier.id')
                .where(sql<boolean>`earlier.state = 'queued'`)
                .whereRef('earlier.lead_id', '=', 'webhook_events.lead_id')
                .whereRef('earlier.endpoint', '=', 'webhook_events.endpoint')
                .whereRef('earlier.position', '<', 'webhook_events.position'),
            ),
          ),
        )
        // By its index alone: events that were sent again together are due together, and to sort them takes longer the more there are.
        .orderBy('due_at')
        .limit(most)
        .$if(engine === 'postgres', (query) => query.forUpdate().skipLocked()),
    )
    .updateTable('webhook_events')
    .set((eb) => ({ leased_until: leasedUntil, lease_id: leaseId, attempts: eb('attempts', '+', 1) }))
    .where('id', 'in', (eb) => eb.selectFrom('due').select('due.id'))
    .returning(TAKEN)
    .execute();
}

/** Ends an event's way. What was sent is not kept. Only the holder of the lease may. */
export async function finishEvent(
  db: Db,
  {
    event,
    leaseId,
    state,
    answer,
    now,
  }: {
    event: TakenEvent;
    leaseId: string;
    state: Exclude<WebhookState, 'queued'>;
    answer: string;
    now: number;
  },
): Promise<void> {
  await db
    .updateTable('webhook_events')
    .set({
      state,
      payload: state === 'sent' ? '' : event.payload,
      answer,
      finished_at: now,
      leased_until: null,
      lease_id: null,
    })
    .where('id', '=', event.id)
    .where('lease_id', '=', leaseId)
    .execute();
}

/** Gives an event back, to be tried again at `dueAt`, and those behind it not before. Only the holder of the lease may. */
export async function releaseEvent(
  db: Db,
  { event, leaseId, dueAt, answer }: { event: TakenEvent; leaseId: string; dueAt: number; answer: string },
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('webhook_events')
    .set({ due_at: dueAt, leased_until: null, lease_id: null, answer })
    .where('id', '=', event.id)
    .where('lease_id', '=', leaseId)
    .executeTakeFirstOrThrow();
  // Another process may have sent it by now, and go on to the next one.
  if (numUpdatedRows === 0n) return;
  await db
    .updateTable('webhook_events')
    .set({ due_at: dueAt })
    .where('lead_id', '=', event.lead_id)
    .where('endpoint', '=', event.endpoint)
    .where('position', '>', event.position)
    .where('due_at', '<', dueAt)
    .where(isQueued)
    .execute();
}

/**
 * Sets the times of events that wait back with the clock, so that each waits as long as it should; and makes due now what a clock that
 * was wrong before put off into a future that is too far.
 * @param options leaseId: of the worker, which will finish by itself what it has in hand; lostMs: by how much the clock went back;
 *   farthest: nothing waits, or is leased by another worker, for longer; times in milliseconds since 1970
 */
export async function setBackEventTimes(
  db: Db,
  { leaseId, now, lostMs, farthest }: { leaseId: string; now: number; lostMs: number; farthest: number },
): Promise<void> {
  // In one transaction: a second try must not set back twice.
  await db.transaction().execute(async (tx) => {
    if (lostMs > 0)
      await tx
        .updateTable('webhook_events')
        .set((eb) => ({ due_at: eb('due_at', '-', lostMs), queued_at: eb('queued_at', '-', lostMs) }))
        .where(isQueued)
        // One in hand, too: what is queued behind it takes its time.
        .where((eb) => eb.or([eb('lease_id', 'is', null), eb('lease_id', '=', leaseId)]))
        .where('due_at', '>', now)
        .execute();
    await tx
      .updateTable('webhook_events')
      .set({ due_at: now, queued_at: now, leased_until: null, lease_id: null })
      .where(isQueued)
      .where((eb) =>
        eb.or([
          eb.and([eb('lease_id', 'is', null), eb('due_at', '>', farthest)]),
          eb.and([eb('lease_id', '!=', leaseId), eb('leased_until', '>', farthest)]),
        ]),
      )
      .execute();
  });
}

/** How many events wait and how many are dead. */
export async function countEvents(db: Db): Promise<{ readonly queued: number; readonly dead: number }> {
  const count = async (which: typeof isQueued) => {
    const row = await db
      .selectFrom('webhook_events')
      .select((eb) => eb.fn.countAll().as('count'))
      .where(which)
      .executeTakeFirstOrThrow();
    return Number(row.count);
  };
  return { queued: await count(isQueued), dead: await count(isDead) };
}

export type ListedEvent = Omit<WebhookEvent, 'payload' | 'lease_id' | 'leased_until' | 'position'>;

/** The oldest events that wait or are dead, the dead ones first. */
export async function listEvents(db: Db, most: number): Promise<ListedEvent[]> {
  const some = (which: typeof isQueued, limit: number) =>
    db
      .selectFrom('webhook_events')
      .select([
        'id',
        'type',
        'lead_id',
        'endpoint',
        'state',
        'attempts',
        'due_at',
        'created_at',
        'queued_at',
        'finished_at',
        'answer',
      ])
      .where(which)
      .orderBy('id')
      .limit(limit)
      .execute();
  const dead = await some(isDead, most);
  return [...dead, ...(await some(isQueued, most - dead.length))];
}

/**
 * Has dead events tried again, from now on.
 * @param ids which; null: all of them
 * @returns how many
 */
export async function reviveEvents(
  db: Db,
  { ids, now }: { ids: readonly string[] | null; now: number },
): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('webhook_events')
    .set({ state: 'queued', attempts: 0, due_at: now, queued_at: now, finished_at: null })
    .where(isDead)
    .$if(ids !== null, (query) => query.where('id', 'in', ids!))
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

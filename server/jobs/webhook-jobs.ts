// Adds events for webhooks to the queue. The events of a lead go to each endpoint one at a time, in order.
import { sql } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import type { LeadEventType } from '#server/db/schema.ts';
import { retryJob, takeJobs, type Job, type NewLease } from '#server/jobs/queue.ts';

export type WebhookJob = Job<'webhook_events'>;

/**
 * Adds an event about a lead for several endpoints, behind those that the lead has already. The caller holds the lead's row, so no
 * other event of the lead comes between.
 * @param event ids: one for each endpoint
 */
export async function addLeadEvent(
  tx: Db,
  event: {
    readonly ids: readonly string[];
    readonly type: LeadEventType;
    readonly leadId: string;
    readonly payload: string;
    readonly endpoints: readonly string[];
    readonly notBefore: number;
    readonly now: number;
  },
): Promise<void> {
  const { ids, type, leadId, payload, endpoints, notBefore, now } = event;
  if (endpoints.length === 0) return;
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
  const position = 1 + Math.max(0, ...before.map((row) => row.position));
  const rows = endpoints.map((endpoint, index) => ({
    id: ids[index]!,
    type,
    lead_id: leadId,
    endpoint,
    position,
    payload,
    // Not before the event in front of it, so nobody looks at it in vain.
    due_at: Math.max(notBefore, before.find((row) => row.endpoint === endpoint)?.due_at ?? 0),
    created_at: now,
    queued_at: now,
  }));
  await tx.insertInto('webhook_events').values(rows).execute();
}

/** Leases the due events of an endpoint: of each lead the first that waits. One that is being sent is queued, too. */
export const takeEvents = (
  database: OpenDatabase,
  { endpoint, ...lease }: NewLease & { readonly endpoint: string },
): Promise<WebhookJob[]> =>
  takeJobs(database, 'webhook_events', {
    ...lease,
    which: sql<boolean>`endpoint = ${endpoint} and not exists (
      select 1 from webhook_events as earlier
      where earlier.state = 'queued'
        and earlier.lead_id = webhook_events.lead_id
        and earlier.endpoint = webhook_events.endpoint
        and earlier.position < webhook_events.position
    )`,
  });

/** Puts an event off until `dueAt`, and those behind it. */
export async function retryEvent(
  db: Db,
  event: WebhookJob,
  { leaseId, dueAt, reply }: { leaseId: string; dueAt: number; reply: string },
): Promise<void> {
  // If the lease was lost, another process may have sent it by now, and go on to the next one.
  if (!(await retryJob(db, 'webhook_events', { id: event.id, leaseId, dueAt, reason: { reply } }))) return;
  await db
    .updateTable('webhook_events')
    .set({ due_at: dueAt })
    .where('lead_id', '=', event.lead_id)
    .where('endpoint', '=', event.endpoint)
    .where('position', '>', event.position)
    .where('due_at', '<', dueAt)
    .where(sql<boolean>`state = 'queued'`)
    .execute();
}

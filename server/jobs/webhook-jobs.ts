// Each endpoint gets a lead's events one at a time, in order.
import { sql } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { newIdAt } from '#server/db/engine/ids.ts';
import type { LeadEventType } from '#server/platform/lead-event-types.ts';
import { takeJobs, type Job, type NewLease } from '#server/jobs/queue.ts';

export type WebhookJob = Job<'webhook_events'>;

/** Adds an event for each endpoint. The caller must have locked the lead's row, so no other event is added in between. */
export async function addLeadEvent(
  tx: Db,
  event: {
    readonly type: LeadEventType;
    readonly leadId: string;
    readonly payload: string;
    readonly endpoints: readonly string[];
    readonly notBefore: number;
    readonly now: number;
  },
): Promise<void> {
  const { type, leadId, payload, endpoints, notBefore, now } = event;
  const before =
    type === 'lead.verified'
      ? []
      : await tx
          .selectFrom('webhook_events')
          .select(['endpoint', sql<number>`max(position)`.as('position')])
          .where('lead_id', '=', leadId)
          .groupBy('endpoint')
          .execute();
  const position = 1 + Math.max(0, ...before.map((row) => row.position));
  const rows = endpoints.map((endpoint) => ({
    // Housekeeping finds old events by ID.
    id: newIdAt(now),
    type,
    lead_id: leadId,
    endpoint,
    position,
    payload,
    due_at: notBefore,
    created_at: now,
    queued_at: now,
  }));
  await tx.insertInto('webhook_events').values(rows).execute();
}

/** Leases each lead's first due event. An event that is being sent remains queued. */
export const takeEvents = (
  db: Db,
  { endpoint, ...lease }: NewLease & { readonly endpoint: string },
): Promise<WebhookJob[]> =>
  takeJobs(db, 'webhook_events', {
    ...lease,
    condition: sql<boolean>`endpoint = ${endpoint} and not exists (
      select 1 from webhook_events as earlier
      where earlier.state = 'queued'
        and earlier.lead_id = webhook_events.lead_id
        and earlier.endpoint = webhook_events.endpoint
        and earlier.position < webhook_events.position
    )`,
    // Sorted only by the indexed column, because thousands of events can be due at once.
    order: sql`due_at`,
  });

// A job is added in the transaction that causes it, and leased by a worker. If the worker dies, the lease expires and
// another worker takes over, so each job is done at least once.
import type { Kysely, RawBuilder, Selectable, Updateable } from 'kysely';

import { columnsOf, isQueued, type Schema } from '#server/db/all-tables.ts';
import { isOnPostgres, type Db } from '#server/db/engine/connect.ts';
import { hasChanged } from '#server/db/engine/row-counts.ts';
import { MINUTE_MS } from '#server/platform/time.ts';

export type JobTable = 'outbox' | 'webhook_events';
export type Job<Table extends JobTable> = Selectable<Schema[Table]>;

// Kysely has no type for a query of one of several tables.
type JobColumns = Pick<Schema['outbox'], keyof Schema['outbox'] & keyof Schema['webhook_events']>;
const jobsOf = (db: Db) => db as unknown as Kysely<Record<JobTable, JobColumns>>;

/** Longer than the longest delivery (DELIVERY_TIMEOUT_MS in mail-worker.ts). */
const LEASE_MS = 30_000;

export type NewLease = {
  /** One per worker, for its whole life. */
  readonly leaseId: string;
  readonly limit: number;
  readonly now: number;
};

/** @param lease condition: further requirement; order: which jobs are leased first, not the order of the result */
export async function takeJobs<Table extends JobTable>(
  db: Db,
  table: Table,
  lease: NewLease & { readonly condition: RawBuilder<boolean>; readonly order: RawBuilder<unknown> },
): Promise<Job<Table>[]> {
  const { leaseId, limit, now, condition, order } = lease;
  const jobTable: JobTable = table;
  const jobs = await jobsOf(db)
    .with('due', (cte) =>
      cte
        .selectFrom(jobTable)
        .select('id')
        .where(isQueued)
        .where('due_at', '<=', now)
        .where((eb) => eb.or([eb('leased_until', 'is', null), eb('leased_until', '<=', now)]))
        .where(condition)
        .orderBy(order)
        .limit(limit)
        .$if(isOnPostgres(db), (query) => query.forUpdate().skipLocked()),
    )
    .updateTable(jobTable)
    .set((eb) => ({ leased_until: now + LEASE_MS, lease_id: leaseId, attempts: eb('attempts', '+', 1) }))
    .where('id', 'in', (eb) => eb.selectFrom('due').select('due.id'))
    .returning(columnsOf(jobTable))
    .execute();
  return jobs as Job<Table>[];
}

/**
 * Stores the result of an attempt, or the reason and time of the next one.
 * @returns false if the lease was lost, or the job was erased
 */
export async function endLease<Table extends JobTable>(
  db: Db,
  table: Table,
  { id, leaseId }: { readonly id: string; readonly leaseId: string },
  changes: Updateable<Schema[Table]>,
): Promise<boolean> {
  const jobTable: JobTable = table;
  return hasChanged(
    jobsOf(db)
      .updateTable(jobTable)
      .set({ ...changes, leased_until: null, lease_id: null })
      .where('id', '=', id)
      .where('lease_id', '=', leaseId),
  );
}

/** No lease lasts longer, even if the clock of another machine is ahead. */
const LONGEST_LEASE_MS = MINUTE_MS;

/**
 * Makes queued jobs due now. Call this at start and after the clock was set back. Otherwise jobs would wait, and leases
 * of dead processes would last, as long as the clock was wrong. Failed jobs are then retried early, which does no harm.
 */
export async function makeQueuedJobsDue(
  db: Db,
  table: JobTable,
  { leaseId, now }: { readonly leaseId: string; readonly now: number },
): Promise<void> {
  await jobsOf(db)
    .transaction()
    .execute(async (tx) => {
      const queued = tx.updateTable(table).where(isQueued);
      await queued
        .set({ due_at: now })
        .where('due_at', '>', now)
        // The event of an erasure first waits until an event in transit has arrived (webhook-events.ts).
        .$if(table === 'webhook_events', (query) =>
          query.where((eb) => eb.or([eb('attempts', '>', 0), eb('due_at', '>', now + LONGEST_LEASE_MS)])),
        )
        .execute();
      await queued
        .set({ leased_until: null, lease_id: null })
        .where('lease_id', '!=', leaseId)
        .where('leased_until', '>', now + LONGEST_LEASE_MS)
        .execute();
    });
}

// A job is added in the transaction that causes it, and leased by a worker. If the worker dies, the lease expires and
// another worker takes over, so each job is done at least once.
import { sql, type Kysely, type RawBuilder, type Selectable, type Updateable } from 'kysely';

import { columnsOf, isQueued, type Schema } from '#server/db/all-tables.ts';
import { isOnPostgres, type Db } from '#server/db/engine/connect.ts';
import { hasChanged } from '#server/db/engine/row-counts.ts';
import { HOUR_MS, MINUTE_MS } from '#server/platform/time.ts';

export type JobTable = 'outbox' | 'webhook_events';
export type Job<Table extends JobTable> = Selectable<Schema[Table]>;

type Queue = {
  /** Decides which due jobs are taken. They are not returned in this order. */
  readonly order: readonly string[];
  /** Corrected when the clock is set back. */
  readonly times: readonly string[];
  /** Longer than any back-off and any lease. */
  readonly longestWaitMs: number;
};

const QUEUES: Readonly<Record<JobTable, Queue>> = {
  // The time when a mail's turn comes is shared fairly between networks and domains (mail-jobs.ts).
  outbox: { order: ['turn_at', 'id'], times: ['due_at', 'turn_at'], longestWaitMs: 2 * MINUTE_MS },
  // Sorted only by the indexed column, because thousands of events can be due at once.
  webhook_events: { order: ['due_at'], times: ['due_at', 'queued_at'], longestWaitMs: 6 * HOUR_MS },
};

// Kysely has no type for a query of one of several tables.
type JobColumns = Pick<Schema['outbox'], keyof Schema['outbox'] & keyof Schema['webhook_events']>;
const jobsOf = (db: Db) => db as unknown as Kysely<Record<JobTable, JobColumns>>;

export type NewLease = {
  readonly leaseId: string;
  readonly leaseMs: number;
  readonly limit: number;
  readonly now: number;
};

/** @param lease which: the caller's condition for a job */
export async function takeJobs<Table extends JobTable>(
  db: Db,
  table: Table,
  { leaseId, leaseMs, limit, now, which }: NewLease & { readonly which: RawBuilder<boolean> },
): Promise<Job<Table>[]> {
  const jobTable: JobTable = table;
  const order = QUEUES[table].order.map((column) => sql.ref(column));
  const jobs = await jobsOf(db)
    .with('due', (cte) =>
      cte
        .selectFrom(jobTable)
        .select('id')
        .where(isQueued)
        .where('due_at', '<=', now)
        .where((eb) => eb.or([eb('leased_until', 'is', null), eb('leased_until', '<=', now)]))
        .where(which)
        .orderBy(sql.join(order))
        .limit(limit)
        .$if(isOnPostgres(db), (query) => query.forUpdate().skipLocked()),
    )
    .updateTable(jobTable)
    .set((eb) => ({ leased_until: now + leaseMs, lease_id: leaseId, attempts: eb('attempts', '+', 1) }))
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

/**
 * Moves the times of waiting jobs back with the clock. A job postponed beyond the longest wait becomes due now.
 * @param clock leaseId: of this worker, which ends its leases itself; lostMs: how far the clock was set back
 */
export async function setBackTimes(
  db: Db,
  table: JobTable,
  { leaseId, now, lostMs }: { readonly leaseId: string; readonly now: number; readonly lostMs: number },
): Promise<void> {
  const { times, longestWaitMs } = QUEUES[table];
  const allTimes = (value: (column: string) => unknown): object =>
    Object.fromEntries(times.map((column) => [column, value(column)]));
  const farthest = now + longestWaitMs;
  // Uses one transaction, because a retry must not move times twice.
  await jobsOf(db)
    .transaction()
    .execute(async (tx) => {
      if (lostMs > 0)
        await tx
          .updateTable(table)
          .set(allTimes((column) => sql`${sql.ref(column)} - ${lostMs}`))
          .where(isQueued)
          .where('due_at', '>', now)
          // A lead's later events wait for the one before, so they move with the job that this worker has leased.
          .where((eb) => eb.or([eb('lease_id', 'is', null), eb('lease_id', '=', leaseId)]))
          .execute();
      await tx
        .updateTable(table)
        .set({ ...allTimes(() => now), leased_until: null, lease_id: null })
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

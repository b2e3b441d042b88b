// The queue of jobs: mail (table outbox) and events for webhooks (table webhook_events). A job is added in the transaction of its
// cause (mail-jobs.ts, webhook-jobs.ts). A worker leases it and then finishes it or puts it off; if the worker dies, the lease runs
// out and another worker takes the job. So each job is done at least once.
import { sql, type Kysely, type RawBuilder, type Selectable, type Updateable } from 'kysely';

import { columnsOf } from '#server/db/all-tables.ts';
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import type { Schema } from '#server/db/schema.ts';
import { HOUR_MS, MINUTE_MS } from '#server/platform/time.ts';

export type JobTable = 'outbox' | 'webhook_events';
export type Job<Table extends JobTable> = Selectable<Schema[Table]>;

const QUEUES = {
  // Of mail that is due, the first turn goes first (mail-jobs.ts).
  outbox: { order: ['turn_at', 'id'], times: ['due_at', 'turn_at'], longestWaitMs: 2 * MINUTE_MS },
  // By the index alone: thousands of events can be due at the same time.
  webhook_events: { order: ['due_at'], times: ['due_at', 'queued_at'], longestWaitMs: 6 * HOUR_MS },
} as const satisfies Record<
  JobTable,
  {
    readonly order: readonly string[];
    /** Times that move when the clock is set back. */
    readonly times: readonly string[];
    /** Longer than any back-off and any lease. */
    readonly longestWaitMs: number;
  }
>;

/** Both tables have these columns, so statements about them are typed once. */
type JobColumns = Pick<Schema['outbox'], keyof Schema['outbox'] & keyof Schema['webhook_events']>;
const jobsOf = (db: Db) => db as unknown as Kysely<Record<JobTable, JobColumns>>;

// Written out, not bound: the partial indexes are found by it.
const isQueued = sql<boolean>`state = 'queued'`;

/** How jobs are leased: at most `most`, and nobody else may take them for `leaseMs`. */
export type NewLease = {
  readonly leaseId: string;
  readonly leaseMs: number;
  readonly most: number;
  readonly now: number;
};

/** Leases due jobs, unless another worker has them. @param which limits the choice */
export async function takeJobs<Table extends JobTable>(
  { db, engine }: Pick<OpenDatabase, 'db' | 'engine'>,
  table: Table,
  { leaseId, leaseMs, most, now, which }: NewLease & { readonly which: RawBuilder<boolean> },
): Promise<Job<Table>[]> {
  // Typed once: statements about either table are the same.
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
        .limit(most)
        .$if(engine === 'postgres', (query) => query.forUpdate().skipLocked()),
    )
    .updateTable(jobTable)
    .set((eb) => ({ leased_until: now + leaseMs, lease_id: leaseId, attempts: eb('attempts', '+', 1) }))
    .where('id', 'in', (eb) => eb.selectFrom('due').select('due.id'))
    .returning(columnsOf(jobTable))
    .execute();
  return jobs as Job<Table>[];
}

/**
 * Ends a job: it was done, or never will be.
 * @returns false when the lease was lost meanwhile, or the job was erased
 */
export const finishJob = <Table extends JobTable>(
  db: Db,
  table: Table,
  job: {
    readonly id: string;
    readonly leaseId: string;
    readonly now: number;
    readonly result: Updateable<Schema[Table]>;
  },
): Promise<boolean> => endLease(db, table, { ...job, changes: { ...job.result, finished_at: job.now } });

/** Puts a job off until `dueAt`. @returns false when the lease was lost meanwhile, or the job was erased */
export const retryJob = <Table extends JobTable>(
  db: Db,
  table: Table,
  job: {
    readonly id: string;
    readonly leaseId: string;
    readonly dueAt: number;
    readonly reason: Updateable<Schema[Table]>;
  },
): Promise<boolean> => endLease(db, table, { ...job, changes: { ...job.reason, due_at: job.dueAt } });

/** Changes a job and ends its lease. Only the worker that holds the lease can. */
async function endLease(
  db: Db,
  table: JobTable,
  { id, leaseId, changes }: { id: string; leaseId: string; changes: object },
): Promise<boolean> {
  const { numUpdatedRows } = await jobsOf(db)
    .updateTable(table)
    .set({ ...changes, leased_until: null, lease_id: null })
    .where('id', '=', id)
    .where('lease_id', '=', leaseId)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/**
 * Moves the times of waiting jobs back with the clock, so each waits as long as it should. What a wrong clock put off for longer than
 * any wait is due now.
 * @param clock leaseId: of the worker, which will end the leases that it holds; lostMs: by how much the clock went back
 */
export async function setBackTimes(
  db: Db,
  table: JobTable,
  { leaseId, now, lostMs }: { leaseId: string; now: number; lostMs: number },
): Promise<void> {
  const { times, longestWaitMs } = QUEUES[table];
  const allTimes = (value: (column: string) => unknown): object =>
    Object.fromEntries(times.map((column) => [column, value(column)]));
  const farthest = now + longestWaitMs;
  // In one transaction: a second try must not move them twice.
  await jobsOf(db)
    .transaction()
    .execute(async (tx) => {
      if (lostMs > 0)
        await tx
          .updateTable(table)
          .set(allTimes((column) => sql`${sql.ref(column)} - ${lostMs}`))
          .where(isQueued)
          .where('due_at', '>', now)
          // A job that this worker is doing, too: events behind it are due when it is.
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

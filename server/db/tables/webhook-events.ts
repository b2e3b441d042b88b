import { sql } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { changedRows, countRows } from '#server/db/engine/row-counts.ts';
import { isQueued } from '#server/db/all-tables.ts';

// A constant, like isQueued.
const isDead = sql<boolean>`state = 'dead'`;

export async function countEvents(db: Db): Promise<{ readonly queued: number; readonly dead: number }> {
  const count = (isInState: typeof isQueued) => countRows(db.selectFrom('webhook_events').where(isInState));
  return { queued: await count(isQueued), dead: await count(isDead) };
}

export async function listEvents(db: Db, limit: number) {
  const select = (isInState: typeof isQueued, count: number) =>
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
        'reply as response',
      ])
      .where(isInState)
      .orderBy('id')
      .limit(count)
      .execute();
  const dead = await select(isDead, limit);
  return [...dead, ...(await select(isQueued, limit - dead.length))];
}

/** @param options ids: null for all; endpoints: those in use, because the events of others would wait forever */
export async function reviveEvents(
  db: Db,
  options: { ids: readonly string[] | null; endpoints: readonly { readonly id: string }[]; now: number },
): Promise<number> {
  const { ids, endpoints, now } = options;
  if (endpoints.length === 0) return 0;
  return changedRows(
    db
      .updateTable('webhook_events')
      .set({ state: 'queued', attempts: 0, due_at: now, queued_at: now, finished_at: null })
      .where(isDead)
      .where(
        'endpoint',
        'in',
        endpoints.map(({ id }) => id),
      )
      .$if(ids !== null, (query) => query.where('id', 'in', ids!)),
  );
}

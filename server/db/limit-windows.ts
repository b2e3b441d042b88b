// Counting within a window of time, in one statement, so that processes that share the database share the count.
import { setImmediate } from 'node:timers/promises';

import type { Db } from '#server/db/connect.ts';

/**
 * Counts one event. The window begins with the first event after the last window ended.
 * @param windowMs length of the window in milliseconds
 * @param now milliseconds since 1970
 * @returns how many events the window holds, this one included, and when it ends
 */
export async function countInWindow(
  db: Db,
  key: string,
  windowMs: number,
  now: number,
): Promise<{ count: number; endsAt: number }> {
  const row = await db
    .insertInto('limit_windows')
    .values({ key, started_at: now, ends_at: now + windowMs, count: 1 })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((eb) => {
        const over = eb('limit_windows.ends_at', '<=', now);
        // Kysely writes a bare value of "then" and "else" into the text, which would make a new statement of every time.
        return {
          count: eb
            .case()
            .when(over)
            .then(1)
            .else(eb('limit_windows.count', '+', 1))
            .end(),
          started_at: eb.case().when(over).then(eb.val(now)).else(eb.ref('limit_windows.started_at')).end(),
          ends_at: eb
            .case()
            .when(over)
            .then(eb.val(now + windowMs))
            .else(eb.ref('limit_windows.ends_at'))
            .end(),
        };
      }),
    )
    .returning(['count', 'ends_at'])
    .executeTakeFirstOrThrow();
  return { count: row.count, endsAt: row.ends_at };
}

/** How many events the window holds now; 0 when it has ended. */
export async function readWindow(
  db: Db,
  key: string,
  now: number,
): Promise<{ count: number; endsAt: number }> {
  const row = await db
    .selectFrom('limit_windows')
    .select(['count', 'ends_at'])
    .where('key', '=', key)
    .where('ends_at', '>', now)
    .executeTakeFirst();
  return { count: row?.count ?? 0, endsAt: row?.ends_at ?? now };
}

/** Takes one event back: a right code is not a wrong try. */
export async function uncountInWindow(db: Db, key: string, now: number): Promise<void> {
  await db
    .updateTable('limit_windows')
    .set((eb) => ({ count: eb('count', '-', 1) }))
    .where('key', '=', key)
    .where('ends_at', '>', now)
    .where('count', '>', 0)
    .execute();
}

const DELETE_AT_ONCE = 2_000;

/** Forgets windows that have ended: a few at a time, so that a million of them neither blocks nor times out. */
export async function deleteEndedWindows(db: Db, now: number): Promise<void> {
  for (;;) {
    const { numDeletedRows } = await db
      .deleteFrom('limit_windows')
      .where('key', 'in', (eb) =>
        eb.selectFrom('limit_windows').select('key').where('ends_at', '<=', now).limit(DELETE_AT_ONCE),
      )
      .executeTakeFirstOrThrow();
    if (numDeletedRows < DELETE_AT_ONCE) return;
    // Others have their turn.
    await setImmediate();
  }
}

/** A sliding window is counted in so many slices; it is one slice longer than asked for at most, and never shorter. */
const SLICES = 24;

type SlidingWindow = { readonly key: string; readonly windowMs: number };

const sliceAt = ({ windowMs }: SlidingWindow, now: number): number => Math.floor(now / (windowMs / SLICES));
const sliceKey = ({ key }: SlidingWindow, slice: number): string => `${key} #${slice}`;

/** Counts one event in a window that slides: unlike the others, it cannot hold twice as many around its end. */
export async function countInSlidingWindow(db: Db, window: SlidingWindow, now: number): Promise<void> {
  const slice = sliceAt(window, now);
  const endsAt = (slice + 1) * (window.windowMs / SLICES) + window.windowMs;
  await countInWindow(db, sliceKey(window, slice), endsAt - now, now);
}

/** How many events a sliding window holds now, and when the oldest of them leave it. */
export async function readSlidingWindow(
  db: Db,
  window: SlidingWindow,
  now: number,
): Promise<{ count: number; endsAt: number }> {
  const current = sliceAt(window, now);
  const keys = Array.from({ length: SLICES + 1 }, (_, age) => sliceKey(window, current - age));
  const rows = await db
    .selectFrom('limit_windows')
    .select(['count', 'ends_at'])
    .where('key', 'in', keys)
    .where('ends_at', '>', now)
    .where('count', '>', 0)
    .execute();
  return {
    count: rows.reduce((sum, row) => sum + row.count, 0),
    endsAt: Math.min(...rows.map((row) => row.ends_at), now + window.windowMs),
  };
}

/** Takes an event of this moment back. */
export async function uncountInSlidingWindow(db: Db, window: SlidingWindow, now: number): Promise<void> {
  await uncountInWindow(db, sliceKey(window, sliceAt(window, now)), now);
}

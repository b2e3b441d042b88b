// Counts events atomically across processes. A fixed window begins with its first event; a sliding one covers the time until now.
import { sql, type RawBuilder } from 'kysely';

import { CLOCKS_DIFFER_MS } from '#server/platform/time.ts';
import type { Db } from '#server/db/engine/connect.ts';

type Window = { readonly key: string; readonly endsAt: number };

const countIn = (db: Db, windows: readonly Window[], { now, limit }: { now: number; limit?: number }) =>
  db
    .insertInto('limit_windows')
    .values(windows.map(({ key, endsAt }) => ({ key, started_at: now, ends_at: endsAt, count: 1 })))
    .onConflict((conflict) => {
      const counted = conflict.column('key').doUpdateSet({
        count: unlessOver(now, sql`limit_windows.count + 1`, sql`1`),
        started_at: unlessOver(now, sql`limit_windows.started_at`, sql`excluded.started_at`),
        ends_at: unlessOver(now, sql`limit_windows.ends_at`, sql`excluded.ends_at`),
      });
      return limit === undefined
        ? counted
        : counted.where((eb) => eb.or([isOver(now), eb('limit_windows.count', '<', limit)]));
    });

/** A window that starts later than any clock could show was written by a wrong clock, and counts as over. */
const isOver = (now: number) =>
  sql<boolean>`(limit_windows.ends_at <= ${now} or limit_windows.started_at > ${now + CLOCKS_DIFFER_MS})`;

const unlessOver = (now: number, value: RawBuilder<unknown>, otherwise: RawBuilder<unknown>) =>
  sql<number>`case when ${isOver(now)} then ${otherwise} else ${value} end`;

/**
 * Counts an event. The first one begins a window.
 * @returns the count including this event
 */
export async function countInWindow(db: Db, key: string, windowMs: number, now: number): Promise<number> {
  const row = await countIn(db, [{ key, endsAt: now + windowMs }], { now })
    .returning('count')
    .executeTakeFirstOrThrow();
  return row.count;
}

/**
 * Counts an event up to a limit of at least 1. Writes nothing if the window is full, because refusals must stay cheap in a flood.
 * @returns the end of the full window; null if the event was counted
 */
export async function countInWindowUpTo(
  db: Db,
  key: string,
  { limit, windowMs }: { limit: number; windowMs: number },
  now: number,
): Promise<{ endsAt: number } | null> {
  const row = await countIn(db, [{ key, endsAt: now + windowMs }], { now, limit })
    .returning('key')
    .executeTakeFirst();
  return row === undefined ? readWindow(db, key, now) : null;
}

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
    .where('started_at', '<=', now + CLOCKS_DIFFER_MS)
    .executeTakeFirst();
  return { count: row?.count ?? 0, endsAt: row?.ends_at ?? now };
}

export async function endWindow(db: Db, key: string): Promise<void> {
  await db.deleteFrom('limit_windows').where('key', '=', key).execute();
}

/** A sliding window is up to one slice too long and never too short. */
const SLICES = 24;

export type SlidingWindow = {
  readonly key: string;
  /** Keys made with older secrets, which are read, too. */
  readonly formerKeys?: readonly string[];
  readonly windowMs: number;
};

export type SlidingCount = {
  readonly count: number;
  /** Returns the time at which one more event will be within the limit, or 0 if it is already. */
  readonly freeAt: (limit: number) => number;
};

const sliceAt = ({ windowMs }: SlidingWindow, now: number): number => Math.floor(now / (windowMs / SLICES));
const sliceKey = (key: string, slice: number): string => `${key} #${slice}`;

/** Fixed windows could allow twice the limit around their end. */
export async function countInSlidingWindows(
  db: Db,
  windows: readonly SlidingWindow[],
  now: number,
): Promise<void> {
  const slices = windows.map((window) => {
    const slice = sliceAt(window, now);
    return {
      key: sliceKey(window.key, slice),
      endsAt: Math.ceil((slice + 1) * (window.windowMs / SLICES)) + window.windowMs,
    };
  });
  await countIn(db, slices, { now }).execute();
}

export async function readSlidingWindows<const Windows extends readonly SlidingWindow[]>(
  db: Db,
  windows: Windows,
  now: number,
): Promise<{ readonly [Index in keyof Windows]: SlidingCount }>;
export async function readSlidingWindows(
  db: Db,
  windows: readonly SlidingWindow[],
  now: number,
): Promise<readonly SlidingCount[]> {
  const keysOf = windows.map((window) => {
    // Another process's clock may be slightly ahead.
    const ahead = Math.ceil(CLOCKS_DIFFER_MS / (window.windowMs / SLICES));
    const newest = sliceAt(window, now) + ahead;
    return [window.key, ...(window.formerKeys ?? [])].flatMap((key) =>
      Array.from({ length: SLICES + 1 + ahead }, (_, age) => sliceKey(key, newest - age)),
    );
  });
  const rows = await db
    .selectFrom('limit_windows')
    .select(['key', 'count', 'ends_at'])
    .where('key', 'in', keysOf.flat())
    .where('ends_at', '>', now)
    .where('started_at', '<=', now + CLOCKS_DIFFER_MS)
    .where('count', '>', 0)
    .orderBy('ends_at')
    .execute();
  return keysOf.map((keys) => {
    const slices = rows.filter(({ key }) => keys.includes(key));
    const count = slices.reduce((sum, slice) => sum + slice.count, 0);
    return {
      count,
      freeAt: (limit) => {
        let left = count;
        let at = 0;
        for (const slice of slices) {
          if (left < limit) break;
          left -= slice.count;
          at = slice.ends_at;
        }
        return at;
      },
    };
  });
}

/**
 * Counts in all windows or in none. Hold a lock (acquireLocks), because parallel calls could otherwise exceed the limit.
 * @returns the time at which another event will be within the limits, or null if this one was counted
 */
export async function countInSlidingWindowsUpTo(
  db: Db,
  limited: readonly { readonly window: SlidingWindow; readonly limit: number }[],
  now: number,
): Promise<{ readonly freeAt: number } | null> {
  const windows = limited.map(({ window }) => window);
  const counts: readonly SlidingCount[] = await readSlidingWindows(db, windows, now);
  const freeAt = Math.max(...limited.map(({ limit }, index) => counts[index]!.freeAt(limit)));
  if (freeAt > now) return { freeAt };
  await countInSlidingWindows(db, windows, now);
  return null;
}

/** @param now the same as when the event was counted */
export async function uncountInSlidingWindows(
  db: Db,
  windows: readonly SlidingWindow[],
  now: number,
): Promise<void> {
  const keys = windows.map((window) => sliceKey(window.key, sliceAt(window, now)));
  await db
    .updateTable('limit_windows')
    .set((eb) => ({ count: eb('count', '-', 1) }))
    .where('key', 'in', keys)
    .where('ends_at', '>', now)
    .where('count', '>', 0)
    .execute();
}

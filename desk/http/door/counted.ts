// Counts the tries of strangers at the door. The counts are in the database, so all processes share them.
import type { Db } from '#server/db/engine/connect.ts';
import { countInWindowUpTo } from '#server/db/tables/limit-windows.ts';
import { networkOf } from '#server/platform/network-of.ts';
import { DESK_SIGN_IN } from '#server/settings/tries-and-rates.ts';

export type TooMany = { readonly type: 'too many'; readonly retryAfterSeconds: number };

/**
 * Counts one more of something in its window.
 * @param limit how many a window may have; windowMs: its length
 * @returns null as long as the limit holds
 */
export async function countUpTo(
  db: Db,
  key: string,
  limits: { readonly limit: number; readonly windowMs: number },
  now: number,
): Promise<TooMany | null> {
  const full = await countInWindowUpTo(db, `desk ${key}`, limits, now);
  if (full === null) return null;
  return { type: 'too many', retryAfterSeconds: Math.max(1, Math.ceil((full.endsAt - now) / 1000)) };
}

/** Counts a try of a network, with a code or with a passkey. */
export const countTryFrom = (db: Db, from: string, now: number): Promise<TooMany | null> =>
  countUpTo(
    db,
    `tries: ${networkOf(from)}`,
    { limit: DESK_SIGN_IN.triesFromNetwork, windowMs: DESK_SIGN_IN.windowMs },
    now,
  );

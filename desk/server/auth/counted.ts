// Counts sign-in attempts in sliding windows, stored in the database and shared by all processes.
import { lockNames, type Db } from '#server/db/engine/connect.ts';
import { countInSlidingWindowsUpTo } from '#server/db/tables/limit-windows.ts';
import { networkOf } from '#server/platform/ip-addresses.ts';
import { DESK_SIGN_IN } from '#server/settings/fixed-limits.ts';

export type TooMany = { readonly type: 'too many'; readonly retryAfterSeconds: number };

/**
 * Counts an attempt in its own transaction.
 * @param lock serialises parallel attempts; defaults to `key`
 * @returns null if no limit is exceeded
 */
export async function countUpTo(
  tx: Db,
  { key, lock = key }: { readonly key: string; readonly lock?: string },
  limits: readonly { readonly limit: number; readonly windowMs: number }[],
  now: number,
): Promise<TooMany | null> {
  await lockNames(tx, `desk ${lock}`);
  const full = await countInSlidingWindowsUpTo(
    tx,
    limits.map(({ limit, windowMs }) => ({ limit, window: { key: `desk ${key} ${windowMs}`, windowMs } })),
    now,
  );
  if (full === null) return null;
  return { type: 'too many', retryAfterSeconds: Math.max(1, Math.ceil((full.hasRoomAt - now) / 1000)) };
}

export const countFrom = (
  tx: Db,
  what: 'asks' | 'codes' | 'passkeys',
  from: string,
  now: number,
): Promise<TooMany | null> => {
  const { asksFromNetwork, codesFromNetwork, passkeysFromNetwork, windowMs } = DESK_SIGN_IN;
  const limit = { asks: asksFromNetwork, codes: codesFromNetwork, passkeys: passkeysFromNetwork }[what];
  return countUpTo(tx, { key: `${what}: ${networkOf(from)}` }, [{ limit, windowMs }], now);
};

import { networkOf } from '#server/platform/ip-addresses.ts';

export type LimitOutcome =
  | { readonly type: 'allowed' }
  | { readonly type: 'exceeded'; readonly retryAfterSeconds: number };

export const exceededUntil = (endsAt: number, now: number): LimitOutcome => ({
  type: 'exceeded',
  retryAfterSeconds: Math.max(1, Math.ceil((endsAt - now) / 1000)),
});

/**
 * Counts in bounded memory, for events that are not worth a database row. The first event after a window's end begins the next.
 */
export function createNetworkLimit({
  max,
  windowMs,
  maxNetworks,
}: {
  readonly max: number;
  readonly windowMs: number;
  readonly maxNetworks: number;
}): (clientAddress: string, now: number) => LimitOutcome {
  const windows = new Map<string, { readonly startedAt: number; count: number }>();

  return (clientAddress, now) => {
    const network = networkOf(clientAddress);
    const known = windows.get(network);
    // The absolute difference also ends a window that began before the clock was set back.
    if (known !== undefined && Math.abs(now - known.startedAt) < windowMs) {
      if (known.count >= max) return exceededUntil(known.startedAt + windowMs, now);
      known.count += 1;
      return { type: 'allowed' };
    }
    windows.delete(network);
    windows.set(network, { startedAt: now, count: 1 });
    const [oldest] = windows.keys();
    if (windows.size > maxNetworks && oldest !== undefined) windows.delete(oldest);
    return { type: 'allowed' };
  };
}

// A limit counted in this process's memory, which it cannot fill: for events that are not worth a row in the database.
import { networkOf } from '#server/platform/network-of.ts';

type Outcome =
  { readonly type: 'allowed' } | { readonly type: 'exceeded'; readonly retryAfterSeconds: number };

/**
 * Counts events of networks in windows of time. A window begins with the first event after the last window ended.
 * @returns counts one event of an address, if its network's window has room. Times are milliseconds since 1970
 */
export function createNetworkLimit({
  most,
  windowMs,
  mostNetworks,
}: {
  /** Maximum number of events in a window. */
  readonly most: number;
  readonly windowMs: number;
  /** Maximum number of networks that are remembered; the oldest are forgotten first. */
  readonly mostNetworks: number;
}): (clientAddress: string, now: number) => Outcome {
  /** In the order in which they began, and end. */
  const windows = new Map<string, { readonly endsAt: number; count: number }>();

  return (clientAddress, now) => {
    const network = networkOf(clientAddress);
    const known = windows.get(network);
    if (known !== undefined && known.endsAt > now) {
      if (known.count >= most)
        return { type: 'exceeded', retryAfterSeconds: Math.max(1, Math.ceil((known.endsAt - now) / 1000)) };
      known.count += 1;
      return { type: 'allowed' };
    }
    windows.delete(network);
    windows.set(network, { endsAt: now + windowMs, count: 1 });
    const [oldest] = windows.keys();
    if (windows.size > mostNetworks && oldest !== undefined) windows.delete(oldest);
    return { type: 'allowed' };
  };
}

// A limit counted in bounded memory: for events that are not worth a database row.
import { networkOf } from '#server/platform/ip-addresses.ts';

type Outcome =
  { readonly type: 'allowed' } | { readonly type: 'exceeded'; readonly retryAfterSeconds: number };

/**
 * A window begins with the first event after the last one ended.
 * @returns counts an event of an IP address and tells whether it is within the limit. Times are milliseconds
 * since 1970
 */
export function createNetworkLimit({
  most,
  windowMs,
  mostNetworks,
}: {
  readonly most: number;
  readonly windowMs: number;
  /** Networks in memory; the oldest are forgotten first. */
  readonly mostNetworks: number;
}): (clientAddress: string, now: number) => Outcome {
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

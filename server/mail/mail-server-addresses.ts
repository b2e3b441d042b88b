// nodemailer waits for both address families, so a DNS server that answers for only one would make every delivery time out.
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout } from 'node:timers/promises';

import { dnsCache } from 'nodemailer/lib/shared';

const GRACE_MS = 1_000;
const KEPT_MS = 10_000;

type Families = Pick<Resolver, 'resolve4' | 'resolve6' | 'cancel'>;

/**
 * Never throws.
 * @param url a value of SMTP_URL
 */
export async function rememberAddresses(
  url: string,
  resolver: Families = new Resolver({ timeout: 2_000, tries: 2 }),
): Promise<void> {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  const kept = dnsCache.get(host);
  if (isIP(host) !== 0 || (kept !== undefined && (kept.expires ?? Infinity) > Date.now())) return;
  const addresses: string[] = [];
  const families = [resolver.resolve4(host), resolver.resolve6(host)].map(async (answer) => {
    addresses.push(...(await answer));
    if (addresses.length === 0) throw new Error('No address.');
  });
  const both = Promise.allSettled(families).then(() => false);
  const one = Promise.any(families).then(
    () => setTimeout(GRACE_MS, true, { ref: false }),
    () => both,
  );
  const isOneMissing = await Promise.race([both, one]);
  resolver.cancel();
  if (isOneMissing && addresses.length > 0)
    dnsCache.set(host, { value: { addresses }, expires: Date.now() + KEPT_MS });
}

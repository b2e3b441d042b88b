// Which network an address belongs to, as limits count it.
import { isIPv6 } from 'node:net';

import ipaddr from 'ipaddr.js';

/**
 * The network an address is counted under. IPv4: the address itself. IPv6: its /64, the smallest network a subscriber gets
 * (RFC 6177), so that none has 2^64 addresses that count separately.
 * @param clientAddress as server/http/visitor-address.ts reads it
 */
export function networkOf(clientAddress: string): string {
  // Rows of older versions may hold any text that a proxy sent.
  if (!isIPv6(clientAddress) || !ipaddr.isValid(clientAddress)) return clientAddress;
  const address = ipaddr.process(clientAddress);
  if (address.kind() === 'ipv4') return address.toString();
  const [network] = ipaddr.IPv6.networkAddressFromCIDR(`${address.toNormalizedString()}/64`)
    .toNormalizedString()
    .split('%');
  return `${network}/64`;
}

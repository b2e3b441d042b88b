import { isIPv6 } from 'node:net';

import ipaddr from 'ipaddr.js';

/**
 * IPv4: the IP address. IPv6: its /64, the smallest network a subscriber gets (RFC 6177), so nobody has 2^64
 * separate counts.
 * @param clientAddress as server/http/visitor-address.ts reads it
 */
export function networkOf(clientAddress: string): string {
  if (!isIPv6(clientAddress) || !ipaddr.isValid(clientAddress)) return clientAddress;
  const address = ipaddr.process(clientAddress);
  if (address.kind() === 'ipv4') return address.toString();
  const [network] = ipaddr.IPv6.networkAddressFromCIDR(`${address.toNormalizedString()}/64`)
    .toNormalizedString()
    .split('%');
  return `${network}/64`;
}

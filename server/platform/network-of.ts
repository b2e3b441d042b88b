// Which network an address belongs to, as limits count it.
import ipaddr from 'ipaddr.js';

/**
 * The network an address is counted under. IPv4: the address itself. IPv6: its /64, the smallest network a
 * subscriber is given (RFC 6177), so that one of them does not have 2^64 addresses to count separately.
 * @param clientAddress as server/http/visitor-address.ts reads it
 */
export function networkOf(clientAddress: string): string {
  // Rows that older versions stored may hold what a proxy made up.
  if (!ipaddr.isValid(clientAddress)) return clientAddress;
  const address = ipaddr.process(clientAddress);
  if (address.kind() === 'ipv4') return address.toString();
  const [network] = ipaddr.IPv6.networkAddressFromCIDR(`${address.toNormalizedString()}/64`)
    .toNormalizedString()
    .split('%');
  return `${network}/64`;
}

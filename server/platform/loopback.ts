// Whether a host is this machine, as its name or address shows without a look at the network.
import ipaddr from 'ipaddr.js';

/**
 * Whether what is sent to a host stays on this machine.
 * @param host a name or an address as it stands in a URL; empty: the usual one, which is this machine
 */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (bare === '' || bare === 'localhost' || bare.endsWith('.localhost')) return true;
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() === 'loopback';
}

import ipaddr from 'ipaddr.js';

/**
 * Decides without a DNS query.
 * @param host from a URL; empty means the default, this machine
 */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (bare === '' || bare === 'localhost' || bare.endsWith('.localhost')) return true;
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() === 'loopback';
}

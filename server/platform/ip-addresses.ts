import { lookup as lookupOnThisMachine, type LookupAddress } from 'node:dns';
import { isIPv6, type LookupFunction } from 'node:net';

import ipaddr from 'ipaddr.js';

/**
 * IPv4: the IP address. IPv6: its /64, the smallest network a subscriber gets (RFC 6177), so nobody has 2^64 separate counts.
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

/** Removes the brackets that a URL puts around an IPv6 address. */
export const bareHost = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

/**
 * Decides without a DNS query.
 * @param host from a URL; empty means the default, this machine
 */
export function isLoopback(host: string): boolean {
  const bare = bareHost(host).toLowerCase();
  if (bare === '' || bare === 'localhost' || bare.endsWith('.localhost')) return true;
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() === 'loopback';
}

// Decides which IP addresses a webhook may call. Names are checked in the connection's own DNS query, so an attacker gains
// nothing by changing DNS later (rebinding).

const PRIVATE: ReadonlySet<string> = new Set(['private', 'loopback', 'uniqueLocal', 'carrierGradeNat']);
/** Cloud metadata services with IP addresses that would otherwise count as public or private. */
const METADATA = [
  '168.63.129.16/32', // Azure
  '100.100.100.200/32', // Alibaba
  'fd00:100::100:200/128',
  'fd00:ec2::/32', // Amazon
  'fd20:ce::254/128', // Google
  'fd00:c1::a9fe:a9fe/128', // Oracle
  'fd00:42::42/128', // Scaleway
  'fd00:a9fe:a9fe::1/128', // Akamai
].map((network) => ipaddr.parseCIDR(network));

/** The only IPv6 range assigned on the internet. */
const PUBLIC_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
const IPV4_COMPATIBLE = ipaddr.IPv6.parseCIDR('::/96');

export function kindOfAddress(text: string): 'public' | 'private' | 'never' {
  if (!ipaddr.isValid(text)) return 'never';
  const address = embeddedAddress(ipaddr.process(text));
  if (ipaddr.subnetMatch(address, { metadata: METADATA }, 'other') === 'metadata') return 'never';
  const range = address.range();
  if (PRIVATE.has(range)) return 'private';
  const isAssigned = address.kind() === 'ipv4' || address.match(PUBLIC_IPV6);
  return range === 'unicast' && isAssigned ? 'public' : 'never';
}

/** Returns an IPv4 address embedded in IPv6 as NAT64 (RFC 6052) or as IPv4-compatible (RFC 4291). */
function embeddedAddress(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (address.kind() === 'ipv4') return address;
  const range = address.range();
  const isEmbedded = range === 'rfc6052' || (range === 'unicast' && address.match(IPV4_COMPATIBLE));
  return isEmbedded ? new ipaddr.IPv4(address.toByteArray().slice(-4)) : address;
}

export type AddressRules = {
  readonly allowPrivate: boolean;
  /** False without TLS. */
  readonly allowPublic: boolean;
};

/** @returns null if permitted; otherwise a reason that does not repeat the IP address */
export function addressRefusal(address: string, { allowPrivate, allowPublic }: AddressRules): string | null {
  const kind = kindOfAddress(address);
  if (kind === 'never') return 'refused: this IP address is never allowed';
  if (kind === 'private' && !allowPrivate) return 'refused: private IP address';
  if (kind === 'public' && !allowPublic) return 'refused: public IP address without encryption';
  return null;
}

export type ResolveName = (
  hostname: string,
  callback: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

export const resolveOnThisMachine: ResolveName = (hostname, callback) =>
  lookupOnThisMachine(hostname, { all: true }, callback);

export class AddressRefused extends Error {}

/** Fails unless every IP address of the name is permitted. */
export function guardedLookup(resolve: ResolveName, rules: AddressRules): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      const refusal = addresses
        ?.map(({ address }) => addressRefusal(address, rules))
        .find((reason) => reason !== null);
      const [first] = addresses ?? [];
      if (error !== null) callback(error, '');
      else if (refusal !== undefined) callback(new AddressRefused(refusal), '');
      else if (first === undefined) callback(new Error('The host name has no IP address.'), '');
      else if (options.all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
  };
}

// Decides to which network addresses an event may go. A name is judged by the addresses it resolves to, in the look-up of the connection
// itself, so that a name which resolves to another address a moment later (DNS rebinding) gains nothing.
import { lookup as lookupOnThisMachine, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

import ipaddr from 'ipaddr.js';

/** Networks at home or in a company: WEBHOOK_ALLOW_PRIVATE allows them. */
const PRIVATE: ReadonlySet<string> = new Set(['private', 'loopback', 'uniqueLocal', 'carrierGradeNat']);
/** Addresses where clouds hand out their secrets, beside link-local and reserved ones; they look public, or like the operator's own. */
const METADATA = [
  '168.63.129.16/32', // Azure
  '100.100.100.200/32', // Alibaba
  'fd00:100::100:200/128',
  'fd00:ec2::/32', // Amazon, in all that it serves there
  'fd20:ce::254/128', // Google
  'fd00:c1::a9fe:a9fe/128', // Oracle
  'fd00:42::42/128', // Scaleway
  'fd00:a9fe:a9fe::1/128', // Akamai
].map((network) => ipaddr.parseCIDR(network));

/** The only part of IPv6 that is assigned on the internet. */
const PUBLIC_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
const IPV4_COMPATIBLE = ipaddr.IPv6.parseCIDR('::/96');

/**
 * The kind of an address. `never` to be called are the addresses where clouds hand out their secrets (those above and link-local
 * ones), and multicast and reserved ones.
 */
export function kindOfAddress(text: string): 'public' | 'private' | 'never' {
  if (!ipaddr.isValid(text)) return 'never';
  const address = embeddedAddress(ipaddr.process(text));
  if (ipaddr.subnetMatch(address, { metadata: METADATA }, 'other') === 'metadata') return 'never';
  const range = address.range();
  if (PRIVATE.has(range)) return 'private';
  const isAssigned = address.kind() === 'ipv4' || address.match(PUBLIC_IPV6);
  return range === 'unicast' && isAssigned ? 'public' : 'never';
}

/** IPv6 has two forms for an IPv4 address: for networks without IPv4 (RFC 6052), and the old IPv4-compatible one (RFC 4291). */
function embeddedAddress(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (address.kind() === 'ipv4') return address;
  const range = address.range();
  const isEmbedded = range === 'rfc6052' || (range === 'unicast' && address.match(IPV4_COMPATIBLE));
  return isEmbedded ? new ipaddr.IPv4(address.toByteArray().slice(-4)) : address;
}

export type AddressRules = {
  /** Whether private addresses may be called, too. */
  readonly allowPrivate: boolean;
  /** Whether public ones may, which is not so without TLS. */
  readonly allowPublic: boolean;
};

/**
 * Why an address may not be called.
 * @returns null when it may; else a few words that do not repeat the address
 */
export function addressRefusal(address: string, { allowPrivate, allowPublic }: AddressRules): string | null {
  const kind = kindOfAddress(address);
  if (kind === 'never') return 'refused: an address that is never called';
  if (kind === 'private' && !allowPrivate) return 'refused: a private address';
  if (kind === 'public' && !allowPublic) return 'refused: a public address, in clear';
  return null;
}

/** Asks for all addresses of a name, as node:dns does. */
export type ResolveName = (
  hostname: string,
  callback: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

export const resolveOnThisMachine: ResolveName = (hostname, callback) =>
  lookupOnThisMachine(hostname, { all: true }, callback);

/** No connection was tried. The message is that of {@link addressRefusal}. */
export class AddressRefused extends Error {}

/** A look-up for node:net that returns addresses only if all addresses of the name may be called. */
export function guardedLookup(resolve: ResolveName, rules: AddressRules): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      const refusal = addresses
        ?.map(({ address }) => addressRefusal(address, rules))
        .find((reason) => reason !== null);
      const [first] = addresses ?? [];
      if (error !== null) callback(error, '');
      else if (refusal !== undefined) callback(new AddressRefused(refusal), '');
      else if (first === undefined) callback(new Error('The name has no address.'), '');
      else if (options.all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
  };
}

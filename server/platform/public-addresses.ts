// To which network addresses an event may go. Names are judged by what they resolve to, at the moment of connecting: what was
// looked at is what is connected to, so a name that changes its mind in between (DNS rebinding) gains nothing.
import { lookup as lookupOnThisMachine, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

import ipaddr from 'ipaddr.js';

/** Ours, or somebody's at home: what WEBHOOK_ALLOW_PRIVATE opens. */
const PRIVATE: ReadonlySet<string> = new Set(['private', 'loopback', 'uniqueLocal', 'carrierGradeNat']);
/** Where clouds answer with their secrets, beside link-local and reserved addresses: they look public, or like the operator's own. */
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

/** Of IPv6, no other addresses are assigned to anybody on the internet. */
const PUBLIC_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
const IPV4_COMPATIBLE = ipaddr.IPv6.parseCIDR('::/96');

/**
 * What kind of address it is. Where clouds answer with their secrets is `never` to be called: the addresses above, and link-local
 * ones; nor are multicast and reserved ones.
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

/** IPv4 addresses have forms in IPv6: where there is nothing else (RFC 6052), and of old (IPv4-compatible, RFC 4291). */
function embeddedAddress(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (address.kind() === 'ipv4') return address;
  const range = address.range();
  const isEmbedded = range === 'rfc6052' || (range === 'unicast' && address.match(IPV4_COMPATIBLE));
  return isEmbedded ? new ipaddr.IPv4(address.toByteArray().slice(-4)) : address;
}

export type AddressRules = {
  /** Whether private addresses may be called, too. */
  readonly allowPrivate: boolean;
  /** Whether public ones may: not in clear. */
  readonly allowPublic: boolean;
};

/**
 * Says why an address may not be called.
 * @returns null when it may; else a few words that name no address
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

/** Why no connection was tried. Its message is that of {@link addressRefusal}. */
export class AddressRefused extends Error {}

/** A look-up for node:net that gives no address out unless all that a name has may be called. */
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

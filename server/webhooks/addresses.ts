// To which network addresses an event may go. Names are judged by what they resolve to, at the moment of connecting: what was
// looked at is what is connected to, so a name that changes its mind in between (DNS rebinding) gains nothing.
import { lookup as lookupOnThisMachine, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

import ipaddr from 'ipaddr.js';

/** Ours, or somebody's at home: what WEBHOOK_ALLOW_PRIVATE opens. */
const PRIVATE: ReadonlySet<string> = new Set(['private', 'loopback', 'uniqueLocal', 'carrierGradeNat']);
/** Clouds answer with their secrets here, and it looks like anybody's address. */
const AZURE_METADATA = '168.63.129.16';

/**
 * What kind of address it is. Link-local ones, where other clouds answer with their secrets, multicast and reserved ones are
 * `never` to be called.
 */
export function kindOfAddress(text: string): 'public' | 'private' | 'never' {
  if (!ipaddr.isValid(text)) return 'never';
  const address = embeddedAddress(ipaddr.process(text));
  const range = address.range();
  if (PRIVATE.has(range)) return 'private';
  return range === 'unicast' && address.toString() !== AZURE_METADATA ? 'public' : 'never';
}

/** Where there is IPv6 only, every IPv4 address has a form in it (RFC 6052). */
function embeddedAddress(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  const isEmbedded = address.kind() === 'ipv6' && address.range() === 'rfc6052';
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

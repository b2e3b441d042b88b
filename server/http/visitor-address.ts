// The only place that reads a visitor's network address from a connection and X-Forwarded-For. Every feature asks here.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';

import ipaddr from 'ipaddr.js';
import type { FastifyBaseLogger, FastifyReply } from 'fastify';

import type { Config } from '#server/settings/settings.ts';

/** The network address of the visitor a request comes from; null when the connection was gone before we could look. */
export type VisitorAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string | null;

/** Ends a request whose connection is gone: no response can reach it, and it has no IP address to store. */
export function dropRequest(reply: FastifyReply): FastifyReply {
  void reply.hijack();
  reply.raw.destroy();
  return reply;
}

/**
 * Whether the machine at an address is a proxy whose X-Forwarded-For is believed.
 * @param hop 0 for the other end of the connection, 1 for the address that it forwards for, …
 */
export type IsProxy = (address: string, hop: number) => boolean;

/**
 * Reads TRUST_PROXY. A number of hops is for proxies whose addresses change, and safe only when this port can be reached through
 * them alone (docs/install.md).
 */
export function createIsProxy(trust: Config['trustProxy']): IsProxy {
  if (trust === false) return () => false;
  if (typeof trust === 'number') return (_address, hop) => hop < trust;
  const networks = new BlockList();
  for (const text of trust.flatMap((name) => NAMED_NETWORKS[name] ?? [name])) {
    const [network = '', prefix] = text.split('/');
    const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) networks.addAddress(network, family);
    else networks.addSubnet(network, Number(prefix), family);
  }
  return (address) => networks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** The names that TRUST_PROXY takes beside networks. */
const NAMED_NETWORKS: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/**
 * Behind a proxy that is not trusted, every visitor seems to come from the proxy, and all share the limits of one. No one notices
 * until the page is popular, so the first request that shows it is logged.
 * @returns takes the headers of each request
 */
export function createForgottenProxyWarning(
  trust: Config['trustProxy'],
  logger: Pick<FastifyBaseLogger, 'warn'>,
): (headers: IncomingHttpHeaders) => void {
  let isDone = trust !== false;
  return (headers) => {
    if (isDone || headers['x-forwarded-for'] === undefined) return;
    isDone = true;
    logger.warn(
      'X-FORWARDED-FOR ARRIVES, BUT TRUST_PROXY IS OFF: all visitors are counted as one. Set TRUST_PROXY to the number ' +
        'of proxies in front of this server, or to their networks.',
    );
  };
}

/**
 * Reads X-Forwarded-For from right to left, as far as trusted proxies wrote it. Text that is no address ends the reading: the nearest
 * trusted proxy then stands for the visitor, so that nonsense gains a stranger no address of their choice.
 */
export function createVisitorAddress(isProxy: IsProxy): VisitorAddress {
  return (request) => {
    let address = peerAddress(request.socket);
    // Node joins repeated headers with commas; an array is a client of its own making.
    const forwarded = [request.headers['x-forwarded-for'] ?? []].flat().join(',').split(',').toReversed();
    for (const [hop, text] of forwarded.entries()) {
      if (address === null || !isProxy(address, hop)) break;
      const next = readAddress(text);
      if (next === null) break;
      address = next;
    }
    return address;
  };
}

/** The address of the other end of a connection; null when it has hung up already. */
export const peerAddress = ({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string | null =>
  readAddress(remoteAddress ?? '');

/**
 * Reads an address in every form that proxies write: "203.0.113.7:4711", "[2001:db8::1]:80", "fe80::1%eth0", "::ffff:203.0.113.7".
 * @returns its shortest form, without port and zone, IPv4 as IPv4; null when it is no address
 */
export function readAddress(text: string): string | null {
  // Even the longest address with zone and port is shorter.
  if (text.length > ADDRESS_MAX_LENGTH) return null;
  const trimmed = text.trim();
  const withoutPort =
    /^\[([^\]]*)\](?::\d{1,5})?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(trimmed)?.[1] ?? trimmed;
  const [bare = ''] = withoutPort.split('%', 1);
  return isIP(bare) === 0 ? null : ipaddr.process(bare).toString();
}

const ADDRESS_MAX_LENGTH = 100;

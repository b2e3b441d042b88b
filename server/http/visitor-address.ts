// The only file that reads a visitor's IP address from a connection and X-Forwarded-For.
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';

import ipaddr from 'ipaddr.js';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify';

import type { Config } from '#server/settings/settings.ts';

/** Null if the connection was lost before its IP address could be read. */
export type VisitorAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string | null;

/**
 * Reads X-Forwarded-For from right to left, as far as trusted proxies wrote it. Stops at an entry that isn't an IP address and
 * returns the proxy that wrote it.
 */
export function createVisitorAddress(isProxy: IsProxy): VisitorAddress {
  return (request) => {
    let address = peerAddress(request.socket);
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

export const peerAddress = ({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string | null =>
  readAddress(remoteAddress ?? '');

const ADDRESS_MAX_LENGTH = 100;

/**
 * Accepts every form that proxies write: "203.0.113.7:4711", "[2001:db8::1]:80", "fe80::1%eth0", "::ffff:203.0.113.7".
 * @returns the shortest form, without port and zone, IPv4 as IPv4; null if invalid
 */
export function readAddress(text: string): string | null {
  if (text.length > ADDRESS_MAX_LENGTH) return null;
  const trimmed = text.trim();
  const withoutPort =
    /^\[([^\]]*)\](?::\d{1,5})?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(trimmed)?.[1] ?? trimmed;
  const [bare = ''] = withoutPort.split('%', 1);
  return isIP(bare) === 0 ? null : ipaddr.process(bare).toString();
}

/** @param hop 0 for the peer of the connection, 1 for the IP address that it forwarded, and so on */
export type IsProxy = (address: string, hop: number) => boolean;

/** A number of hops is safe only if clients can reach this port only through the proxies (docs/install.md). */
export function createIsProxy(trust: Config['trustProxy']): IsProxy {
  if (trust === false) return () => false;
  if (typeof trust === 'number') return (_address, hop) => hop < trust;
  const networks = new BlockList();
  for (const text of trust) {
    const [network = '', prefix] = text.split('/');
    const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) networks.addAddress(network, family);
    else networks.addSubnet(network, Number(prefix), family);
  }
  return (address) => networks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Logs the first request that came through an untrusted proxy, because all its visitors would share one limit. */
export function warnOfForgottenProxy(
  app: FastifyInstance,
  trust: Config['trustProxy'],
  logger: Pick<FastifyBaseLogger, 'warn'>,
): void {
  let hasWarned = false;
  if (trust !== false) return;
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    if (!hasWarned && headers['x-forwarded-for'] !== undefined) {
      hasWarned = true;
      logger.warn(
        'REQUESTS CONTAIN X-FORWARDED-FOR, BUT TRUST_PROXY IS OFF, so all visitors are counted as one. Set TRUST_PROXY to the number ' +
          'of proxies in front of this server, or to their networks.',
      );
    }
    done();
  });
}

/** Ends a request whose connection is lost, because there is neither a recipient nor an IP address to store. */
export function dropRequest(reply: FastifyReply): FastifyReply {
  void reply.hijack();
  reply.raw.destroy();
  return reply;
}

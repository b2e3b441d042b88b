// Requires exactly one Host, because a proxy and this server could read different ones. Rejects cross-site writes and, at the
// desk, cross-site reads. SameSite=Lax cookies and JSON bodies also protect against cross-site writes.
import type { IncomingMessage } from 'node:http';

import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { SendError } from '#server/http/errors.ts';
import { API } from '#shared/api.ts';

/** A host with an optional port (RFC 3986). */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+;=%-]*)(?::\d*)?$/i;

export const HOST_SENTENCE = 'The request must name exactly one host. Please send a single Host header.';

/** @returns false if the server must respond with 400 (RFC 9112, section 3.2) */
export function namesOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length !== 4 || name.toLowerCase() !== 'host') continue;
    hosts += 1;
    if (hosts > 1 || !HOST.test(rawHeaders[at + 1] ?? '')) return false;
  }
  return hosts === 1 || httpVersion === '1.0';
}

/**
 * Recognises the page's host with or without "www.", or with a final dot, where the form would be refused. Any other name may
 * come from a proxy, and redirecting it could loop.
 */
export function createIsAlias(publicUrl: string): (request: IncomingMessage) => boolean {
  const { host } = new URL(publicUrl);
  const names = [host, host.startsWith('www.') ? host.slice(4) : `www.${host}`];
  const aliases = new Set([...names, ...names.map((name) => name.replace(/(?=:|$)/, '.'))]);
  aliases.delete(host);
  return ({ headers }) => headers.host !== undefined && aliases.has(headers.host.toLowerCase());
}

/**
 * Browsers send Origin with every POST, and Sec-Fetch-Site relates the two sites; programs send neither. `another name` means
 * our page under another host name.
 */
type Origin = 'ours' | 'another name' | 'another site';

function originOf({ headers }: FastifyRequest, ours: string): Origin {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return 'another site';
  if (headers.origin === undefined || headers.origin === ours) return 'ours';
  const origin = URL.parse(headers.origin);
  if (origin === null || origin.host !== headers.host?.toLowerCase()) return 'another site';
  // The operator may use localhost or 127.0.0.1. Any other matching name proves nothing, because an attacker's host name can
  // resolve to this machine (DNS rebinding).
  return LOOPBACK.test(origin.hostname) ? 'ours' : 'another name';
}

export type UrlSetting = 'PUBLIC_URL' | 'DESK_URL';

const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/**
 * Refuses cross-site requests before reading their bodies.
 * @param page urlSetting: null for the desk on this machine
 */
export function refuseOtherOrigins(
  app: FastifyInstance,
  { publicUrl, urlSetting }: { readonly publicUrl: string; readonly urlSetting: UrlSetting | null },
  sendError: SendError,
): void {
  const { origin: ours } = new URL(publicUrl);
  let warned = false;
  app.addHook('onRequest', async (request, reply) => {
    // Reading from the desk adds to the audit log and takes time, and any site could link to it.
    // Compares the route, because the path may be encoded (/%61pi/).
    const { url: route = '' } = request.routeOptions;
    const isReadable = urlSetting === 'PUBLIC_URL' || !route.startsWith('/api/');
    if (isReadable && (request.method === 'GET' || request.method === 'HEAD')) return;
    // Mail programs send this request from any origin, without a cookie (RFC 8058).
    if (route === API.unsubscribe) return;
    const origin = originOf(request, ours);
    if (origin === 'ours') return;
    if (origin === 'another name' && !warned) {
      warned = true;
      request.log.warn(
        `A form sent from a URL other than ${ours} was refused. ${
          urlSetting === null
            ? 'Open the page at this URL instead.'
            : `If people open the page at the other URL, set ${urlSetting} to that URL.`
        }`,
      );
    }
    return sendError(reply, 'wrong-origin');
  });
}

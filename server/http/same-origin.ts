// Rejects cross-site writes, and cross-site reads at the desk. Cookies are SameSite=Lax and bodies must be
// JSON, so this is a third protection.
import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { SendError } from '#server/http/errors.ts';
import { API } from '#shared/api.ts';

/**
 * Browsers send Origin with every POST, and Sec-Fetch-Site (Fetch Metadata, W3C) relates the two sites;
 * programs send neither. "another name" is our page under another host name.
 */
type Origin = 'ours' | 'another name' | 'another site';

function originOf({ headers }: FastifyRequest, ours: string): Origin {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return 'another site';
  if (headers.origin === undefined || headers.origin === ours) return 'ours';
  const origin = URL.parse(headers.origin);
  if (origin === null || origin.host !== headers.host?.toLowerCase()) return 'another site';
  // An operator may use localhost or 127.0.0.1. Any other matching name proves nothing: an attacker's host
  // name can resolve to this machine (DNS rebinding).
  return LOOPBACK.test(origin.hostname) ? 'ours' : 'another name';
}

export type UrlSetting = 'PUBLIC_URL' | 'DESK_URL';

const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/**
 * Refuses cross-site requests before reading their bodies.
 * @param page urlSetting: the setting that `publicUrl` comes from; null for the desk on this machine
 */
export function refuseOtherOrigins(
  app: FastifyInstance,
  { publicUrl, urlSetting }: { readonly publicUrl: string; readonly urlSetting: UrlSetting | null },
  sendError: SendError,
): void {
  const { origin: ours } = new URL(publicUrl);
  let warned = false;
  app.addHook('onRequest', async (request, reply) => {
    // Reads at the desk write to the audit log and cost time, and any site can link to them.
    const mayBeRead = urlSetting === 'PUBLIC_URL' || !request.url.startsWith('/api/');
    if (mayBeRead && (request.method === 'GET' || request.method === 'HEAD')) return;
    // Mail programs post from anywhere, without a cookie (RFC 8058).
    if (request.routeOptions.url === API.unsubscribe) return;
    const origin = originOf(request, ours);
    if (origin === 'ours') return;
    if (origin === 'another name' && !warned) {
      warned = true;
      request.log.warn(
        `A form came from another address than ${ours}, and was refused. ${
          urlSetting === null
            ? 'Open the page at its own.'
            : `If people open the page there, set ${urlSetting} to it.`
        }`,
      );
    }
    return sendError(reply, 'wrong-origin');
  });
}

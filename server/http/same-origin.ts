// Keeps other sites from posting in a visitor's name. Cookies are SameSite=Lax and bodies must be JSON, so this is
// the third lock on the same door; it is also the one that says clearly why.
import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { SendError } from '#server/http/errors.ts';
import { API } from '#shared/api.ts';

/**
 * Where a request that changes something comes from: our page, our page under a name that is not PUBLIC_URL's, or
 * another site. Browsers send Origin with every POST, and Sec-Fetch-Site (Fetch Metadata, W3C) says how the two sites
 * relate; programs send neither.
 */
type Origin = 'ours' | 'another name' | 'another site';

/** @param publicUrl origin of the public page */
function originOf({ headers }: FastifyRequest, publicUrl: string): Origin {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return 'another site';
  if (headers.origin === undefined || headers.origin === publicUrl) return 'ours';
  const origin = URL.parse(headers.origin);
  if (origin === null || origin.host !== headers.host?.toLowerCase()) return 'another site';
  // Whoever opens the page on this machine may call it localhost or 127.0.0.1. Any other name proves nothing by being the
  // same twice: an attacker's own can be made to lead here (DNS rebinding), and then their page looks like ours.
  return LOOPBACK.test(origin.hostname) ? 'ours' : 'another name';
}

/** As URL writes them. */
const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Refuses what another site sends, before its body is read. */
export function refuseOtherOrigins(app: FastifyInstance, publicUrl: string, sendError: SendError): void {
  let warned = false;
  app.addHook('onRequest', async (request, reply) => {
    if (request.method === 'GET' || request.method === 'HEAD') return;
    // Whoever has the link may use it from anywhere; mail programs do (RFC 8058). No cookie has a part in it.
    if (request.routeOptions.url === API.unsubscribe) return;
    const origin = originOf(request, publicUrl);
    if (origin === 'ours') return;
    if (origin === 'another name' && !warned) {
      warned = true;
      request.log.warn(
        'A form came from an address that is not PUBLIC_URL, and was refused. If visitors open the page there, set ' +
          'PUBLIC_URL to it.',
      );
    }
    return sendError(reply, 'wrong-origin');
  });
}

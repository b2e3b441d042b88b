// Keeps other sites from posting in a visitor's name, and from reading in that of a person at the desk. Cookies are SameSite=Lax and bodies must be JSON, so this is the third
// protection against the same attack, and the one whose refusal says why.
import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { SendError } from '#server/http/errors.ts';
import { API } from '#shared/api.ts';

/**
 * The sender of a request: our page, our page under another name than that of its address, or another site.
 * Browsers send Origin with every POST, and Sec-Fetch-Site (Fetch Metadata, W3C) says how the two sites relate; programs send
 * neither.
 */
type Origin = 'ours' | 'another name' | 'another site';

/** @param ours origin of the page or the desk */
function originOf({ headers }: FastifyRequest, ours: string): Origin {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return 'another site';
  if (headers.origin === undefined || headers.origin === ours) return 'ours';
  const origin = URL.parse(headers.origin);
  if (origin === null || origin.host !== headers.host?.toLowerCase()) return 'another site';
  // An operator may open the page on this machine as localhost or 127.0.0.1. Any other name proves nothing by being in both headers:
  // an attacker can make a name of theirs resolve to this machine (DNS rebinding), and then their page looks like ours.
  return LOOPBACK.test(origin.hostname) ? 'ours' : 'another name';
}

/** The settings that say where a page is. */
export type UrlSetting = 'PUBLIC_URL' | 'DESK_URL';

/** As URL writes them. */
const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/**
 * Refuses requests of other sites, before their bodies are read.
 * @param page publicUrl: its address. urlSetting: which setting says it; null: none, the desk on this machine
 */
export function refuseOtherOrigins(
  app: FastifyInstance,
  { publicUrl, urlSetting }: { readonly publicUrl: string; readonly urlSetting: UrlSetting | null },
  sendError: SendError,
): void {
  const { origin: ours } = new URL(publicUrl);
  let warned = false;
  app.addHook('onRequest', async (request, reply) => {
    // At the desk, reading leaves a line in the audit log, and takes the server's time. Its pages can be linked to from anywhere.
    const mayBeRead = urlSetting === 'PUBLIC_URL' || !request.url.startsWith('/api/');
    if (mayBeRead && (request.method === 'GET' || request.method === 'HEAD')) return;
    // The link works from anywhere, as mail programs use it (RFC 8058), and without a cookie.
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

// Keeps other sites from posting in a visitor's name. Cookies are SameSite=Lax and bodies must be JSON, so this is
// the third lock on the same door; it is also the one that says clearly why.
import type { FastifyRequest } from 'fastify';

/**
 * Whether a request that changes something may come from where it comes from. Browsers send Origin with every POST,
 * and Sec-Fetch-Site (Fetch Metadata, W3C) says how the two sites relate; programs send neither.
 * @param publicUrl origin of the public page
 */
export function isSameOrigin(request: FastifyRequest, publicUrl: string): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  const { origin } = request.headers;
  if (origin === undefined || origin === publicUrl) return true;
  // The page may be opened under another name of the same server, such as 127.0.0.1 for localhost.
  return URL.parse(origin)?.host === request.headers.host;
}

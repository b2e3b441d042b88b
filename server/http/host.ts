// Requires exactly one host per request, because a proxy and this server could each read a different one.
// Also knows other names of the page.
import type { IncomingMessage } from 'node:http';

/** Host and optional port (RFC 3986). */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+;=%-]*)(?::\d*)?$/i;

export const HOST_SENTENCE = 'The request has to name one host. Please send one Host header.';

/** @returns false if the response must be 400 (RFC 9112, section 3.2) */
export function namesItsHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
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
 * True for the page's host with or without "www.", or with a final dot, where the form would be refused after
 * it was filled in. Any other name may come from a proxy, and a redirect could loop.
 * @param publicUrl a value of PUBLIC_URL
 */
export function createHasOtherName(publicUrl: string): (request: IncomingMessage) => boolean {
  const { host } = new URL(publicUrl);
  const names = [host, host.startsWith('www.') ? host.slice(4) : `www.${host}`];
  const others = new Set([...names, ...names.map((name) => name.replace(/(?=:|$)/, '.'))]);
  others.delete(host);
  return ({ headers }) => headers.host !== undefined && others.has(headers.host.toLowerCase());
}

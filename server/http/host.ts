// Checks that a request names exactly one host (if it names two, a proxy may read one and we the other), and knows the page's other names.
import type { IncomingMessage } from 'node:http';

/** A name or an address, with or without a port (RFC 3986); empty where the address has no host. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+;=%-]*)(?::\d*)?$/i;

export const HOST_SENTENCE = 'The request has to name one host. Please send one Host header.';

/** @returns false when it must be answered 400 (RFC 9112, section 3.2) */
export function namesItsHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length !== 4 || name.toLowerCase() !== 'host') continue;
    hosts += 1;
    if (hosts > 1 || !HOST.test(rawHeaders[at + 1] ?? '')) return false;
  }
  // Before 1.1 there was no such header.
  return hosts === 1 || httpVersion === '1.0';
}

/**
 * Whether a request came for the page's host with or without "www.", or with a dot at its end. The form would be refused there, after it
 * was typed. Any other name may be what a proxy makes of the right one, so a redirect could go round in circles.
 * @param publicUrl a value of PUBLIC_URL
 */
export function createHasOtherName(publicUrl: string): (request: IncomingMessage) => boolean {
  const { host } = new URL(publicUrl);
  const names = [host, host.startsWith('www.') ? host.slice(4) : `www.${host}`];
  const others = new Set([...names, ...names.map((name) => name.replace(/(?=:|$)/, '.'))]);
  others.delete(host);
  return ({ headers }) => headers.host !== undefined && others.has(headers.host.toLowerCase());
}

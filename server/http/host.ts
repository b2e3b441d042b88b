// Checks that a request names exactly one host. If it names two, a proxy may read one and we the other.
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

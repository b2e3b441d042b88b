// The return path of a mail (VERP): an address of its own, so that a report about the mail names it, however little else of the
// mail it brings back. Signed, so that nobody can make one up; without letters that differ in case alone, because mail servers
// do not always keep it.
import { timingSafeEqual } from 'node:crypto';

import { hmac, type Secrets } from '#server/secrets/secrets.ts';

/** 80 bits: whoever guesses has to mail us each try. All of it stays below the 64 octets of a local part (RFC 5321). */
const SIGNATURE_BYTES = 10;

const signatureOf = ({ keys }: Secrets[number], id: string): string =>
  hmac(keys.cookie, `bounce:${id}`).subarray(0, SIGNATURE_BYTES).toString('hex');

/**
 * The address to which reports about a mail go back.
 * @param mailId a UUID
 * @param domain BOUNCE_DOMAIN
 */
export const bounceAddress = (secrets: Secrets, mailId: string, domain: string): string =>
  `b-${mailId.replaceAll('-', '')}.${signatureOf(secrets[0], mailId)}@${domain}`;

const FORM = /\bb-([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})\.([0-9a-f]{20})@/i;

/**
 * @param text an address, or a header that holds one
 * @returns the id of the mail; null when it is no address that we made
 */
export function readBounceAddress(secrets: Secrets, text: string): string | null {
  const found = FORM.exec(text);
  if (found === null) return null;
  const parts = found.slice(1).map((part) => part.toLowerCase());
  const id = parts.slice(0, 5).join('-');
  const signature = Buffer.from(parts[5] ?? '', 'latin1');
  return secrets.some((secret) => timingSafeEqual(Buffer.from(signatureOf(secret, id), 'latin1'), signature))
    ? id
    : null;
}

// The return path of a mail (VERP): a different address for each mail, so that any report about the mail names it. Signed, so that
// a stranger cannot forge one; in letters of one case, because mail servers do not always keep the case.
import { timingSafeEqual } from 'node:crypto';

import { hmac, type Secrets } from '#server/secrets/secrets.ts';

/** 80 bits, because each guess costs an attacker a mail. The whole stays below the 64 octets of a local part (RFC 5321). */
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

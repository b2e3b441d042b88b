// The signed return path of a mail (VERP), unique per mail so that any report identifies it. Lower case only,
// because mail servers may change case.
import { timingSafeEqual } from 'node:crypto';

import { hmac, type Secrets } from '#server/secrets/secrets.ts';

/**
 * 80 bits, because each guess costs an attacker a mail, and the local part must stay below 64 octets (RFC
 * 5321).
 */
const SIGNATURE_BYTES = 10;

const signatureOf = ({ keys }: Secrets[number], id: string): string =>
  hmac(keys.cookie, `bounce:${id}`).subarray(0, SIGNATURE_BYTES).toString('hex');

/**
 * @param mailId a UUID
 * @param domain BOUNCE_DOMAIN
 */
export const bounceAddress = (secrets: Secrets, mailId: string, domain: string): string =>
  `b-${mailId.replaceAll('-', '')}.${signatureOf(secrets[0], mailId)}@${domain}`;

const FORM = /\bb-([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})\.([0-9a-f]{20})@/i;

/**
 * @param text an e-mail address, or a header that contains one
 * @returns the mail's ID; null without a valid signature
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

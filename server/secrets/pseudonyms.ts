// Pseudonyms of e-mail addresses, for places where addresses must be distinguished but not known: the keys of limits, and the rows
// that remain after an erasure. Without the secret, a pseudonym cannot be traced back, not even by trying addresses.
import { hmac, type Secrets } from '#server/secrets/secrets.ts';
import { normaliseEmail } from '#shared/lead.ts';

const BYTES = 16;

/**
 * The pseudonyms of an address, one for each secret, the newest first: that one is written, all are looked for.
 * @param email as typed or as stored
 */
export function pseudonymsOf(secrets: Secrets, email: string): readonly [string, ...string[]] {
  const [newest, ...former] = secrets;
  const pseudonym = ({ keys }: Secrets[number]) =>
    hmac(keys.pseudonym, normaliseEmail(email)).subarray(0, BYTES).toString('base64url');
  return [pseudonym(newest), ...former.map(pseudonym)];
}

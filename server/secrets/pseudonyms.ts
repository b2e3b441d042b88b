// Pseudonyms of e-mail addresses for limits and for rows kept after an erasure. Without the secret, trying
// e-mail addresses does not reveal them.
import { hmac, type Secrets } from '#server/secrets/secrets.ts';
import { normaliseEmail } from '#shared/lead.ts';

const BYTES = 16;

/**
 * One per secret, newest first: write the first, search for all.
 * @param email as typed or as stored
 */
export function pseudonymsOf(secrets: Secrets, email: string): readonly [string, ...string[]] {
  const [newest, ...former] = secrets;
  const pseudonym = ({ keys }: Secrets[number]) =>
    hmac(keys.pseudonym, normaliseEmail(email)).subarray(0, BYTES).toString('base64url');
  return [pseudonym(newest), ...former.map(pseudonym)];
}

// What stands for an e-mail address where addresses must be told apart and need not be known: in the keys of limits, and in
// what is left when an address was erased. Without the secret, nobody can tell whose it is, nor try addresses until one fits.
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

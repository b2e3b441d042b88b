// Codes are derived and never stored, so a copy of the database contains none.
import { randomUUID } from 'node:crypto';

import { hmac, isEqual, type Secrets } from '#server/secrets/secrets.ts';
import { CODE_LENGTH } from '#shared/lengths-and-resend.ts';

export type CodeKey = {
  readonly id: string;
  readonly secret_id: string;
  readonly deskUser?: string;
};

/**
 * Computes HMAC-SHA-256 of the ID, truncated as in RFC 4226, section 5.3.
 * @returns six digits, or null if the secret has been retired
 */
export function codeDigits(secrets: Secrets, code: CodeKey): string | null {
  const secret = secrets.find(({ id }) => id === code.secret_id);
  if (secret === undefined) return null;
  const digest =
    code.deskUser === undefined
      ? hmac(secret.keys['one-time code'], code.id)
      : hmac(secret.keys['desk code'], `${code.id} ${code.deskUser}`);
  const offset = digest.readUInt8(digest.length - 1) & 0x0f;
  const number = digest.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** CODE_LENGTH).padStart(CODE_LENGTH, '0');
}

// Vowels are missing, to avoid accidental words, and so are easily confused letters.
const REFERENCE_LETTERS = 'BCDFGHJKMNPQRSTVWXZ';
const REFERENCE_LENGTH = 3;

/** Tells the newest e-mail from an older one. Derived with another key, so it reveals no digits. */
export function codeReference(secrets: Secrets, code: CodeKey): string {
  const secret = secrets.find(({ id }) => id === code.secret_id) ?? secrets[0];
  return Array.from(hmac(secret.keys.reference, code.id).subarray(0, REFERENCE_LENGTH))
    .map((byte) => REFERENCE_LETTERS.charAt(byte % REFERENCE_LETTERS.length))
    .join('');
}

/**
 * Compares all candidates in constant time, so timing reveals no match. If they are fewer than `atLeast`, it does the work of
 * that many, so timing does not reveal their number either.
 */
export function findCode<Candidate extends CodeKey>(
  secrets: Secrets,
  candidates: readonly Candidate[],
  typed: string,
  atLeast: number,
): Candidate | null {
  for (let missing = atLeast - candidates.length; missing > 0; missing -= 1) {
    codeDigits(secrets, { id: randomUUID(), secret_id: secrets[0].id });
  }
  let found: Candidate | null = null;
  for (const candidate of candidates) {
    if (isEqual(codeDigits(secrets, candidate) ?? '', typed)) found = candidate;
  }
  return found;
}

// One-time codes are derived, never stored: a copy of the database, outbox included, holds none.
import { randomUUID, timingSafeEqual } from 'node:crypto';

import { hmac, type Secrets } from '#server/secrets/secrets.ts';
import { CODE_LENGTH } from '#shared/lengths-and-resend-seconds.ts';

/** A stored code: its id and which secret derives it. */
export type CodeKey = {
  readonly id: string;
  readonly secretId: string;
  /** The person of the desk whom it lets in; absent for a visitor's code. No code is good for another person, nor at the other door. */
  readonly deskUser?: string;
};

/**
 * The digits of a code: HMAC-SHA-256 of its id, truncated as RFC 4226, section 5.3, does.
 * @returns six digits, or null when the secret that made the code has been retired
 */
export function codeDigits(secrets: Secrets, code: CodeKey): string | null {
  const secret = secrets.find(({ id }) => id === code.secretId);
  if (secret === undefined) return null;
  const digest =
    code.deskUser === undefined
      ? hmac(secret.keys['one-time code'], code.id)
      : hmac(secret.keys['desk code'], `${code.id} ${code.deskUser}`);
  const offset = digest.readUInt8(digest.length - 1) & 0x0f;
  const number = digest.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** CODE_LENGTH).padStart(CODE_LENGTH, '0');
}

// No vowels, so that no word appears by accident, and no letters that are easily confused.
const REFERENCE_LETTERS = 'BCDFGHJKMNPQRSTVWXZ';
const REFERENCE_LENGTH = 3;

/**
 * The reference of a code, shown on the page and in the e-mail so that a visitor can tell the newest e-mail from
 * an older one. It says nothing about the digits: another key derives it.
 */
export function codeReference(secrets: Secrets, code: CodeKey): string {
  const secret = secrets.find(({ id }) => id === code.secretId) ?? secrets[0];
  return Array.from(hmac(secret.keys.reference, code.id).subarray(0, REFERENCE_LENGTH))
    .map((byte) => REFERENCE_LETTERS.charAt(byte % REFERENCE_LETTERS.length))
    .join('');
}

/**
 * Compares in constant time. Every candidate is compared, and as many more that fit nothing as are missing, so the time of
 * the answer says neither which one fits nor how many there are.
 * @param atLeast how many comparisons are made in any case
 */
export function findCode<Candidate extends CodeKey>(
  secrets: Secrets,
  candidates: readonly Candidate[],
  typed: string,
  atLeast: number,
): Candidate | null {
  for (let missing = atLeast - candidates.length; missing > 0; missing -= 1) {
    codeDigits(secrets, { id: randomUUID(), secretId: secrets[0].id });
  }
  let found: Candidate | null = null;
  for (const candidate of candidates) {
    const digits = codeDigits(secrets, candidate) ?? '';
    const same =
      digits.length === typed.length &&
      timingSafeEqual(Buffer.from(digits, 'latin1'), Buffer.from(typed, 'latin1'));
    if (same) found = candidate;
  }
  return found;
}

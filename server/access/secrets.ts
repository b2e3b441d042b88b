// Keys made from APP_SECRET: one for each purpose, so that no signature or code can stand in for another.
// Several secrets may be given, newest first: the newest makes, all of them verify, so a secret can be changed
// without signing anybody out.
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

type Purpose = 'one-time code' | 'cookie' | 'reference' | 'proof of work';

type Secret = {
  /** Names the secret without telling it: stored beside each code, so that verifying needs one key, not all. */
  readonly id: string;
  readonly keys: Readonly<Record<Purpose, Uint8Array>>;
};

/** At least one secret, newest first. */
export type Secrets = readonly [Secret, ...Secret[]];

const deriveKey = (secret: string, purpose: string, bytes: number): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, '', `verified-lead-page ${purpose}`, bytes));

/**
 * Derives the keys of each secret (HKDF, RFC 5869).
 * @param appSecrets the values of APP_SECRET, newest first; throws when there is none
 */
export function deriveSecrets(appSecrets: readonly string[]): Secrets {
  const [first, ...rest] = appSecrets.map((secret): Secret => ({
    id: Buffer.from(deriveKey(secret, 'id', 6)).toString('base64url'),
    keys: {
      'one-time code': deriveKey(secret, 'one-time code', 32),
      cookie: deriveKey(secret, 'cookie', 32),
      reference: deriveKey(secret, 'reference', 32),
      'proof of work': deriveKey(secret, 'proof of work', 32),
    },
  }));
  if (first === undefined) throw new Error('At least one APP_SECRET is needed.');
  return [first, ...rest];
}

/**
 * Reads the secret kept in a file, or makes one and keeps it (mode 0600). Used when APP_SECRET is not set.
 * @returns the secret, 43 characters of base64url
 */
export function readOrMakeSecretFile(file: string): string {
  mkdirSync(path.dirname(file), { recursive: true });
  try {
    // "wx" fails if the file is there: of two processes that start at once, one makes it and both read it.
    writeFileSync(file, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return readFileSync(file, 'utf8').trim();
}

/** HMAC-SHA-256 of a text under one purpose's key. */
export function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** `value.signature`, made with the newest secret. */
export function sign(secrets: Secrets, value: string): string {
  return `${value}.${hmac(secrets[0].keys.cookie, value).toString('base64url')}`;
}

/**
 * The value of a signed text, or null when no secret of ours signed it.
 * @param signed what {@link sign} returned, or anything a stranger sent instead
 */
export function unsign(secrets: Secrets, signed: string): string | null {
  const dot = signed.lastIndexOf('.');
  if (dot < 1) return null;
  const value = signed.slice(0, dot);
  // Compared as text: several base64 texts decode to the same bytes, and only one of them is what we signed.
  const signature = Buffer.from(signed.slice(dot + 1), 'latin1');
  const genuine = secrets.some((secret) => {
    const expected = Buffer.from(hmac(secret.keys.cookie, value).toString('base64url'), 'latin1');
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  });
  return genuine ? value : null;
}

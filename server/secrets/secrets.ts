// Keys are derived from APP_SECRET, one per purpose. The newest secret signs and all verify, so a secret can be changed without
// ending sessions.
import {
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { flushToDisk, makePrivate, makePrivateFolder } from '#server/platform/files.ts';
import { errorCode } from '#server/platform/system-errors.ts';
import { normaliseEmail } from '#shared/lead.ts';

const PURPOSES = [
  'one-time code',
  'cookie',
  'reference',
  'proof of work',
  'pseudonym',
  'webhook',
  'consent chain',
  'desk code',
  'desk session',
  'desk passkey',
] as const;
type Purpose = (typeof PURPOSES)[number];

type Secret = {
  /** Identifies the secret without revealing it. Stored with each code, so verifying needs only one key. */
  readonly id: string;
  /** As KeyObject, because Node takes five times as long with raw keys. */
  readonly keys: Readonly<Record<Purpose, KeyObject>>;
};

export type Secrets = readonly [Secret, ...Secret[]];

export const WITHOUT_OLD_SECRET =
  'Visitors with a session or a pending code must request a new code, links in sent e-mails stop working, and erased people are no longer recognised.';

/**
 * Derives keys by HKDF (RFC 5869).
 * @param appSecrets newest first
 * @throws if empty
 */
export function deriveSecrets(appSecrets: readonly string[]): Secrets {
  const [first, ...rest] = appSecrets.map((secret): Secret => ({
    id: deriveBytes(secret, 'id', 6).toString('base64url'),
    keys: keysOf(secret),
  }));
  if (first === undefined) throw new Error('At least one APP_SECRET is needed.');
  return [first, ...rest];
}

const KEY_BYTES = 32;

const keysOf = (secret: string): Secret['keys'] => {
  const keyFor = (purpose: Purpose) => createSecretKey(deriveBytes(secret, purpose, KEY_BYTES));
  return Object.fromEntries(PURPOSES.map((purpose) => [purpose, keyFor(purpose)])) as Secret['keys'];
};

const deriveBytes = (secret: string, purpose: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `verified-lead-page ${purpose}`, bytes));

/** Returns the secrets used if WEBHOOK_SECRET is not set, newest first, as `whsec_` and base64 (Standard Webhooks). */
export const derivedWebhookSecrets = (secrets: Secrets): readonly string[] =>
  secrets.map(({ keys }) => `whsec_${keys.webhook.export().toString('base64')}`);

/** Our secrets are 32 random bytes as base64url; an operator's may be longer. */
const STORED_SECRET = /^[\x21-\x7e]{43,}$/;

export type SecretFile =
  | { readonly type: 'secret'; readonly secret: string }
  | { readonly type: 'missing' }
  /** The file contains no complete secret. The sentence tells the operator what to do. */
  | { readonly type: 'unusable'; readonly sentence: string };

/** Reads the file and removes other users' permissions. */
export function readSecretFile(file: string): SecretFile {
  const found = inspectSecretFile(file);
  if (found.type === 'secret') makePrivate(file);
  return found;
}

export function inspectSecretFile(file: string): SecretFile {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { type: 'missing' };
    throw error;
  }
  if (STORED_SECRET.test(text)) return { type: 'secret', secret: text };
  return {
    type: 'unusable',
    sentence:
      `${file} is empty, truncated or not a secret (it must have at least 43 characters on one line). Restore the file from a backup. ` +
      'Without a backup, delete the file and set APP_SECRET to a new secret. Visitors must then request new codes.',
  };
}

/**
 * Creates the file with mode 0600, either completely or not at all. If several processes start at once, one creates it and
 * all return the same secret.
 * @returns 43 characters of base64url
 */
export function makeSecretFile(file: string): string {
  const folder = path.dirname(file);
  makePrivateFolder(folder);
  const draft = `${file}.${process.pid}-${randomBytes(6).toString('hex')}`;
  try {
    const secret = randomBytes(32).toString('base64url');
    writeFileSync(draft, secret, { flag: 'wx', mode: 0o600, flush: true });
    // `link` fails if the file exists, whereas `rename` would replace another process's secret.
    linkSync(draft, file);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  flushToDisk(folder);
  const created = readSecretFile(file);
  if (created.type !== 'secret')
    throw new Error(`${file} could not be read after it was created. Check the disk.`);
  return created.secret;
}

export function hmac(key: KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** Signs cookies and database contents, so write access to the database is not enough to forge them. */
export function signerOf(secrets: Secrets, purpose: Purpose) {
  const signatureBy = ({ keys }: Secret, text: string) => hmac(keys[purpose], text).toString('base64url');
  return {
    sign: (text: string): string => signatureBy(secrets[0], text),
    verifies: (text: string, signature: string): boolean =>
      // Compared as text, because several base64 texts decode to the same bytes.
      secrets.some((secret) => isEqual(signatureBy(secret, text), signature)),
  };
}

/** Compares in constant time. */
export function isEqual(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected, 'latin1'), Buffer.from(given, 'latin1')];
  return one.length === other.length && timingSafeEqual(one, other);
}

export const sign = (secrets: Secrets, value: string): string =>
  `${value}.${signerOf(secrets, 'cookie').sign(value)}`;

/**
 * @param purpose the beginning of the signed value, so one kind of cookie or link is never accepted as another
 * @param signed untrusted result of {@link sign}
 * @returns the value after its purpose
 */
export function unsign(secrets: Secrets, purpose: string, signed: string): string | null {
  const dot = signed.lastIndexOf('.');
  if (dot < 1) return null;
  const value = signed.slice(0, dot);
  const genuine = signerOf(secrets, 'cookie').verifies(value, signed.slice(dot + 1));
  return genuine && value.startsWith(purpose) ? value.slice(purpose.length) : null;
}

const PSEUDONYM_BYTES = 16;

/**
 * Pseudonyms for limits and for rows kept after an erasure. Without the secret, trying e-mail addresses does not reveal them.
 * One per secret, newest first: write the first, search for all.
 * @param email as typed or as stored
 */
export function pseudonymsOf(secrets: Secrets, email: string): readonly [string, ...string[]] {
  const [newest, ...former] = secrets;
  const pseudonym = ({ keys }: Secrets[number]) =>
    hmac(keys.pseudonym, normaliseEmail(email)).subarray(0, PSEUDONYM_BYTES).toString('base64url');
  return [pseudonym(newest), ...former.map(pseudonym)];
}

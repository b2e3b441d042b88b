// Keys made from APP_SECRET: one for each purpose, so that no signature or code can stand in for another.
// Several secrets may be given, newest first: the newest makes, all of them verify, so a secret can be changed
// without ending any session.
import {
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';

import { errorCode } from '#server/platform/error-code.ts';
import { flushFolder, makePrivate, makePrivateFolder } from '#server/platform/private-files.ts';

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
  /** Names the secret without revealing it: stored beside each code, so that verifying needs one key, not all. */
  readonly id: string;
  /** Prepared once: Node makes such an object of every other key, at each use, in five times the time. */
  readonly keys: Readonly<Record<Purpose, KeyObject>>;
};

/** At least one secret, newest first. */
export type Secrets = readonly [Secret, ...Secret[]];

const KEY_BYTES = 32;

const deriveBytes = (secret: string, purpose: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `verified-lead-page ${purpose}`, bytes));

const deriveKey = (secret: string, purpose: Purpose): KeyObject =>
  createSecretKey(deriveBytes(secret, purpose, KEY_BYTES));

const keysOf = (secret: string): Secret['keys'] =>
  Object.fromEntries(PURPOSES.map((purpose) => [purpose, deriveKey(secret, purpose)])) as Record<
    Purpose,
    KeyObject
  >;

/**
 * Derives the keys of each secret (HKDF, RFC 5869).
 * @param appSecrets the values of APP_SECRET, newest first; throws when there is none
 */
export function deriveSecrets(appSecrets: readonly string[]): Secrets {
  const [first, ...rest] = appSecrets.map((secret): Secret => ({
    id: deriveBytes(secret, 'id', 6).toString('base64url'),
    keys: keysOf(secret),
  }));
  if (first === undefined) throw new Error('At least one APP_SECRET is needed.');
  return [first, ...rest];
}

/** What events are signed with where WEBHOOK_SECRET is not set, newest first: `whsec_` and base64, as Standard Webhooks has it. */
export const derivedWebhookSecrets = (secrets: Secrets): readonly string[] =>
  secrets.map(({ keys }) => `whsec_${keys.webhook.export().toString('base64')}`);

/** What this server writes: 32 random bytes as base64url. An operator's own may be longer. */
const KEPT_SECRET = /^[\x21-\x7e]{43,}$/;

export type SecretFile =
  | { readonly type: 'secret'; readonly secret: string }
  | { readonly type: 'missing' }
  /** It is there and holds no whole secret. The sentence says what to do. */
  | { readonly type: 'unusable'; readonly sentence: string };

/** Reads the secret kept in a file. Used when APP_SECRET is not set. Takes the file away from other users of the machine. */
export function readSecretFile(file: string): SecretFile {
  const found = lookAtSecretFile(file);
  if (found.type === 'secret') makePrivate(file);
  return found;
}

/** Reads the secret kept in a file, and leaves it as it is. */
export function lookAtSecretFile(file: string): SecretFile {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { type: 'missing' };
    throw error;
  }
  if (!KEPT_SECRET.test(text)) {
    return {
      type: 'unusable',
      sentence:
        `${file} is empty, cut short or no secret (it must be 43 characters or more, in one line). Put it back from a backup. ` +
        'Without one, delete it and set APP_SECRET to a new secret: visitors must then ask for new codes.',
    };
  }
  return { type: 'secret', secret: text };
}

/**
 * Makes a secret and keeps it in a file that is not there yet (mode 0600). The file appears whole or not at all, whenever
 * the process or the machine fails; of several processes that do this at once, one makes it and all return the same.
 * @returns the secret, 43 characters of base64url
 */
export function makeSecretFile(file: string): string {
  const folder = path.dirname(file);
  makePrivateFolder(folder);
  const draft = `${file}.${process.pid}-${randomBytes(6).toString('hex')}`;
  try {
    const descriptor = openSync(draft, 'wx', 0o600);
    writeSync(descriptor, randomBytes(32).toString('base64url'));
    fsyncSync(descriptor);
    closeSync(descriptor);
    // A link fails if the name is taken, where a rename would replace another process's secret.
    linkSync(draft, file);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  flushFolder(folder);
  const made = readSecretFile(file);
  if (made.type !== 'secret') throw new Error(`${file} could not be read back.`);
  return made.secret;
}

/** HMAC-SHA-256 of a text under one purpose's key. */
export function hmac(key: KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** Signs what the database holds, so that no one who can only write there can make it: the newest secret signs, each of them verifies. */
export const signerOf = (secrets: Secrets, purpose: 'consent chain' | 'desk session' | 'desk passkey') => ({
  sign: (text: string): string => signatureOf(secrets[0].keys[purpose], text),
  verifies: (text: string, signature: string): boolean =>
    secrets.some(({ keys }) => fits(keys[purpose], text, signature)),
});

/** Signs the head of the chain of consents. */
export const chainSignerOf = (secrets: Secrets) => signerOf(secrets, 'consent chain');

const signatureOf = (key: KeyObject, text: string): string => hmac(key, text).toString('base64url');

/** Compared as text: several base64 texts decode to the same bytes, and only one of them is what we signed. */
function fits(key: KeyObject, text: string, signature: string): boolean {
  const given = Buffer.from(signature, 'latin1');
  const expected = Buffer.from(signatureOf(key, text), 'latin1');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** `value.signature`, made with the newest secret. */
export function sign(secrets: Secrets, value: string): string {
  return `${value}.${signatureOf(secrets[0].keys.cookie, value)}`;
}

/**
 * The value of a signed text, or null when no secret of ours signed it.
 * @param signed what {@link sign} returned, or anything a stranger sent instead
 */
export function unsign(secrets: Secrets, signed: string): string | null {
  const dot = signed.lastIndexOf('.');
  if (dot < 1) return null;
  const value = signed.slice(0, dot);
  const genuine = secrets.some(({ keys }) => fits(keys.cookie, value, signed.slice(dot + 1)));
  return genuine ? value : null;
}

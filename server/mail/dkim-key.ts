// Checks the DKIM key before it is used.
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { createTransport } from 'nodemailer';

import { errorCode } from '#server/platform/error-code.ts';
import type { DkimConfig } from '#server/settings/settings.ts';

/** Verifiers must not accept shorter keys (RFC 8301, section 3.2). */
const DKIM_MIN_BITS = 1024;

/**
 * Signs a sample with the DKIM key, as mail is signed. Needed because nodemailer sends mail unsigned when the key does not work,
 * and labels every signature as RSA.
 * @returns null when it can sign, or a sentence about what is wrong and what to do
 */
export async function dkimComplaint(dkim: DkimConfig): Promise<string | null> {
  const file = `DKIM_PRIVATE_KEY_FILE (${dkim.privateKeyFile})`;
  let privateKey: string;
  try {
    privateKey = readFileSync(dkim.privateKeyFile, 'utf8');
  } catch (error) {
    return `${file} cannot be read (${errorCode(error) ?? 'unknown'}).`;
  }
  const advice = 'Make one with: openssl genrsa -out dkim.pem 2048';
  const key = parseKey(privateKey);
  if (key === null) return `${file} holds no private key without a passphrase in PEM. ${advice}`;
  if (key.asymmetricKeyType !== 'rsa' || (key.asymmetricKeyDetails?.modulusLength ?? 0) < DKIM_MIN_BITS) {
    return `${file} must hold an RSA key of ${DKIM_MIN_BITS} bits or more. ${advice}`;
  }
  const { domainName, keySelector } = dkim;
  const transport = createTransport({
    streamTransport: true,
    buffer: true,
    dkim: { domainName, keySelector, privateKey },
  });
  const address = 'sample@example.com';
  const { message } = await transport.sendMail({
    from: address,
    to: address,
    subject: 'Sample',
    text: 'Sample',
  });
  return Buffer.isBuffer(message) && message.includes('DKIM-Signature:')
    ? null
    : `${file} does not sign. ${advice}`;
}

function parseKey(pem: string): ReturnType<typeof createPrivateKey> | null {
  try {
    return createPrivateKey(pem);
  } catch {
    return null;
  }
}

import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

import DKIM from 'nodemailer/lib/dkim';

import { errorCode } from '#server/platform/system-errors.ts';
import type { DkimConfig } from '#server/settings/settings.ts';
import { orNull } from '#shared/or-null.ts';

/** RFC 8301, section 3.2: verifiers must not accept shorter keys. */
const DKIM_MIN_BITS = 1024;

const SIGNED_HEADERS = [
  'From:Sender:Reply-To:Subject:Date:Message-ID:To:Cc:MIME-Version:Content-Type:Content-Transfer-Encoding',
  'In-Reply-To:References:Auto-Submitted:List-Id:List-Unsubscribe:List-Unsubscribe-Post:Feedback-ID',
].join(':');

/**
 * RFC 6376.
 * @throws the system's error if the key cannot be read
 */
export const dkimOptions = ({ domainName, keySelector, privateKeyFile }: DkimConfig) => ({
  domainName,
  keySelector,
  privateKey: readFileSync(privateKeyFile, 'utf8'),
  headerFieldNames: SIGNED_HEADERS,
});

const SAMPLE = 'From: sample@example.com\r\n\r\nSample\r\n';

/**
 * Signs a sample, because nodemailer sends unsigned mail if the key fails, and labels every signature as RSA.
 * @returns null, or a sentence with the problem and the remedy
 */
export async function dkimError(dkim: DkimConfig): Promise<string | null> {
  const file = `DKIM_PRIVATE_KEY_FILE (${dkim.privateKeyFile})`;
  let privateKey: string;
  try {
    privateKey = readFileSync(dkim.privateKeyFile, 'utf8');
  } catch (error) {
    return `${file} cannot be read (${errorCode(error) ?? 'unknown'}). Correct the path, or grant this user read permission.`;
  }
  const advice = 'Create a key with: openssl genrsa -out dkim.pem 2048';
  const key = orNull(() => createPrivateKey(privateKey));
  if (key === null)
    return `${file} does not contain a private key in PEM format without a passphrase. ${advice}`;
  if (key.asymmetricKeyType !== 'rsa' || (key.asymmetricKeyDetails?.modulusLength ?? 0) < DKIM_MIN_BITS) {
    return `${file} must contain an RSA key of at least ${DKIM_MIN_BITS} bits. ${advice}`;
  }
  const signed = await text(new DKIM(dkimOptions(dkim)).sign(SAMPLE));
  return signed.includes('DKIM-Signature:') ? null : `${file} contains a key that cannot sign. ${advice}`;
}

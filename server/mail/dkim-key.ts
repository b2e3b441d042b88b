// Signs mail with the DKIM key, and checks the key before it is used.
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

import DKIM from 'nodemailer/lib/dkim';

import { errorCode } from '#server/platform/error-code.ts';
import type { DkimConfig } from '#server/settings/settings.ts';

/** Verifiers must not accept shorter keys (RFC 8301, section 3.2). */
const DKIM_MIN_BITS = 1024;

/** The headers that are signed, where a letter has them: those of its author and words, and those of the unsubscribe link. */
const SIGNED = [
  'From:Sender:Reply-To:Subject:Date:Message-ID:To:Cc:MIME-Version:Content-Type:Content-Transfer-Encoding',
  'In-Reply-To:References:Auto-Submitted:List-Id:List-Unsubscribe:List-Unsubscribe-Post:Feedback-ID',
].join(':');

/** How our mail is signed (RFC 6376). Throws the system's error when the key cannot be read. */
export const dkimOptions = ({ domainName, keySelector, privateKeyFile }: DkimConfig) => ({
  domainName,
  keySelector,
  privateKey: readFileSync(privateKeyFile, 'utf8'),
  headerFieldNames: SIGNED,
});

const SAMPLE = 'From: sample@example.com\r\n\r\nSample\r\n';

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
  const signed = await text(new DKIM(dkimOptions(dkim)).sign(SAMPLE));
  return signed.includes('DKIM-Signature:') ? null : `${file} does not sign. ${advice}`;
}

function parseKey(pem: string): ReturnType<typeof createPrivateKey> | null {
  try {
    return createPrivateKey(pem);
  } catch {
    return null;
  }
}

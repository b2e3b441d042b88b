// Self-signed certificates, made with openssl (req -new, then ca -selfsign), valid from 2020 to 2120.
import { readFileSync } from 'node:fs';
import path from 'node:path';

export const certificateFile = (name: string): string =>
  path.join(import.meta.dirname, 'certificates', `${name}.pem`);
const read = (name: string): string => readFileSync(certificateFile(name), 'utf8');

/** For "localhost". */
export const TEST_KEY = read('localhost-key');
export const TEST_CERTIFICATE = read('localhost');

/** For "sns.amazonaws.com", with an RSA key, like Amazon SNS. */
export const TEST_SNS_KEY = read('sns-key');
export const TEST_SNS_CERTIFICATE = read('sns');

/** Key of two certificates for "guide.example.com". The second expired in 2020. */
export const TEST_SITE_KEY = read('guide-key');
export const TEST_SITE_CERTIFICATE = read('guide');
export const TEST_SITE_CERTIFICATE_OF_2020 = read('guide-of-2020');

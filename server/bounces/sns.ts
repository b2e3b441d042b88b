// Verifies Amazon SNS messages: https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
// The library sns-validator has no timeout or size limit, and accepts certificates from any region and path.
import { verify, X509Certificate } from 'node:crypto';

import * as z from 'zod/mini';

import { orNull } from '#shared/or-null.ts';

export const IsoTime = z.pipe(
  z.string().check(z.refine((text) => !Number.isNaN(Date.parse(text)))),
  z.transform((text) => Date.parse(text)),
);

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export const SnsMessage = z.object({
  Type: z.enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']),
  MessageId: z.string(),
  TopicArn: z.string(),
  Subject: z.optional(z.nullable(z.string())),
  Message: z.string(),
  Timestamp: z.string().check(z.refine((text) => IsoTime.safeParse(text).success)),
  Token: z.optional(z.string()),
  SubscribeURL: z.optional(z.string()),
  SignatureVersion: z.string(),
  Signature: z.string(),
  SigningCertURL: z.string(),
});
export type SnsMessage = z.infer<typeof SnsMessage>;

const HASHES: ReadonlyMap<string, string> = new Map([
  ['1', 'sha1'],
  ['2', 'sha256'],
]);

const FETCH_TIMEOUT_MS = 5_000;
const RESPONSE_MAX_BYTES = 16 * 1024;
const CACHED_CERTIFICATES = 4;
/** Limited, because anyone who knows the topic can name certificates that don't exist. */
const CONCURRENT_FETCHES = 2;
const CERTIFICATE_PATH = /^\/SimpleNotificationService-[0-9a-f]{16,64}\.pem$/;

/** `later`: Amazon doesn't respond at the moment. */
type Failure = 'not proven' | 'later';

/**
 * Returns a function that verifies a message, and confirms a subscription.
 * @param topic an ARN; messages for other topics are refused
 */
export function createSnsVerifier(
  topic: string,
  httpFetch: Fetch,
): (message: SnsMessage, now: number) => Promise<'accepted' | Failure> {
  const origin = originOf(topic);
  const certificates = new Map<string, X509Certificate>();
  const pendingFetches = new Map<string, Promise<X509Certificate | Failure>>();

  const fetchCertificate = async (url: string): Promise<X509Certificate | Failure> => {
    const response = await fetchText(httpFetch, url);
    if (typeof response === 'string') return response;
    const certificate = orNull(() => new X509Certificate(response.text));
    if (certificate === null) return 'not proven';
    const [oldest] = certificates.keys();
    if (certificates.size >= CACHED_CERTIFICATES && oldest !== undefined) certificates.delete(oldest);
    certificates.set(url, certificate);
    return certificate;
  };

  const certificateAt = async (url: string): Promise<X509Certificate | Failure> => {
    const known = certificates.get(url) ?? pendingFetches.get(url);
    if (known !== undefined) return known;
    if (pendingFetches.size >= CONCURRENT_FETCHES) return 'later';
    const fetching = fetchCertificate(url).finally(() => pendingFetches.delete(url));
    pendingFetches.set(url, fetching);
    return fetching;
  };

  const confirm = async ({ SubscribeURL }: SnsMessage): Promise<'accepted' | Failure> => {
    const url = URL.parse(SubscribeURL ?? '');
    if (
      url?.origin !== origin ||
      url.username !== '' ||
      url.searchParams.get('Action') !== 'ConfirmSubscription' ||
      url.searchParams.get('TopicArn') !== topic
    )
      return 'not proven';
    const response = await fetchText(httpFetch, url.href);
    return typeof response === 'string' ? response : 'accepted';
  };

  return async (message, now) => {
    const hash = HASHES.get(message.SignatureVersion);
    const url = URL.parse(message.SigningCertURL);
    if (
      message.TopicArn !== topic ||
      hash === undefined ||
      url === null ||
      url.href !== `${origin}${url.pathname}` ||
      !CERTIFICATE_PATH.test(url.pathname)
    )
      return 'not proven';
    const certificate = await certificateAt(url.href);
    if (!(certificate instanceof X509Certificate)) return certificate;
    if (Date.parse(certificate.validFrom) > now || Date.parse(certificate.validTo) < now) return 'not proven';
    const signature = Buffer.from(message.Signature, 'base64');
    const isGenuine = verify(hash, Buffer.from(signedTextOf(message)), certificate.publicKey, signature);
    if (!isGenuine) return 'not proven';
    return message.Type === 'SubscriptionConfirmation' ? confirm(message) : 'accepted';
  };
}

function originOf(topic: string): string {
  const [, partition, , region = ''] = topic.split(':');
  return `https://sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}`;
}

function signedTextOf(message: SnsMessage): string {
  const names =
    message.Type === 'Notification'
      ? (['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'] as const)
      : (['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'] as const);
  return names
    .filter((name) => typeof message[name] === 'string')
    .map((name) => `${name}\n${message[name]}\n`)
    .join('');
}

async function fetchText(httpFetch: Fetch, url: string): Promise<{ readonly text: string } | Failure> {
  try {
    const response = await httpFetch(url, {
      redirect: 'error',
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
    });
    if (!response.ok) {
      await response.body?.cancel();
      return response.status >= 500 || response.status === 429 ? 'later' : 'not proven';
    }
    const body: AsyncIterable<Uint8Array> | null = response.body;
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of body ?? []) {
      bytes += chunk.length;
      if (bytes > RESPONSE_MAX_BYTES) return 'not proven';
      chunks.push(chunk);
    }
    return { text: Buffer.concat(chunks).toString('utf8') };
  } catch {
    return 'later';
  }
}

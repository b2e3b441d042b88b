// Warnings about SMTP_URL.
import { isLoopback } from '#server/platform/loopback.ts';
import { allowsClearText, sendsLogin } from '#server/platform/smtp-url.ts';

/** Sentences about what the operator allows in SMTP_URL and should know. */
export function smtpWarnings(smtpUrl: string | undefined): string[] {
  if (smtpUrl === undefined) return [];
  const warnings: string[] = [];
  if (sendsLogin(smtpUrl) && allowsClearText(smtpUrl)) {
    warnings.push(
      'SMTP_URL lets user and password go to the mail server in clear, as its parameters say. Take them out to demand TLS.',
    );
  }
  const { searchParams, hostname } = new URL(smtpUrl);
  if (searchParams.get('tls.rejectUnauthorized') === 'false' && !isLoopback(hostname)) {
    warnings.push(
      'SMTP_URL does not check the certificate of the mail server, as its parameters say: anyone in between could read user and password.',
    );
  }
  if (searchParams.has('proxy')) {
    warnings.push(
      'SMTP_URL names a proxy, and mail does not go through one. Take it out, and let this machine reach the mail server itself.',
    );
  }
  return warnings;
}

// SMTP_URL: whether a login may leave this machine without TLS.
import { isLoopback } from '#server/settings/addresses-in-settings.ts';

/**
 * Whether a connection must use TLS: it sends a login to another machine, and the address does not allow clear text.
 * @param smtpUrl a value of SMTP_URL
 */
export function needsTls(smtpUrl: string): boolean {
  return sendsLogin(smtpUrl) && !allowsClearText(smtpUrl);
}

function sendsLogin(smtpUrl: string): boolean {
  const { protocol, username, hostname } = new URL(smtpUrl);
  return protocol === 'smtp:' && username !== '' && !isLoopback(hostname);
}

/** Whether the parameters that nodemailer reads allow a login in clear text. */
function allowsClearText(smtpUrl: string): boolean {
  const { searchParams } = new URL(smtpUrl);
  if (searchParams.get('requireTLS') === 'true') return false;
  return (
    searchParams.get('requireTLS') === 'false' ||
    searchParams.get('ignoreTLS') === 'true' ||
    searchParams.get('opportunisticTLS') === 'true'
  );
}

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
  return warnings;
}

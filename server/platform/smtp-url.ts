// What the URL of a mail server allows: whether a login may leave this machine without TLS.
import { isLoopback } from '#server/platform/loopback.ts';

/**
 * Whether a connection must use TLS: it sends a login to another machine, and the address does not allow clear text.
 * @param smtpUrl as nodemailer reads it
 */
export function needsTls(smtpUrl: string): boolean {
  return sendsLogin(smtpUrl) && !allowsClearText(smtpUrl);
}

/** Whether a login goes to another machine over a connection that begins in clear text. */
export function sendsLogin(smtpUrl: string): boolean {
  const { protocol, username, hostname } = new URL(smtpUrl);
  return protocol === 'smtp:' && username !== '' && !isLoopback(hostname);
}

/** Whether the parameters that nodemailer reads allow a login in clear text. */
export function allowsClearText(smtpUrl: string): boolean {
  const { searchParams } = new URL(smtpUrl);
  if (searchParams.get('requireTLS') === 'true') return false;
  return (
    searchParams.get('requireTLS') === 'false' ||
    searchParams.get('ignoreTLS') === 'true' ||
    searchParams.get('opportunisticTLS') === 'true'
  );
}

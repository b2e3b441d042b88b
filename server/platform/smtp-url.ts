import { isLoopback } from '#server/platform/ip-addresses.ts';

/**
 * True if it sends a login to another machine and the URL does not permit clear text.
 * @param smtpUrl as nodemailer reads it
 */
export function needsTls(smtpUrl: string): boolean {
  return sendsLogin(smtpUrl) && !allowsClearText(smtpUrl);
}

/** True for a login to another machine without implicit TLS. */
export function sendsLogin(smtpUrl: string): boolean {
  const { protocol, username, hostname } = new URL(smtpUrl);
  return protocol === 'smtp:' && username !== '' && !isLoopback(hostname);
}

export function allowsClearText(smtpUrl: string): boolean {
  const { searchParams } = new URL(smtpUrl);
  if (searchParams.get('requireTLS') === 'true') return false;
  return (
    searchParams.get('requireTLS') === 'false' ||
    searchParams.get('ignoreTLS') === 'true' ||
    searchParams.get('opportunisticTLS') === 'true'
  );
}

import { TLSSocket } from 'node:tls';

import SMTPConnection from 'nodemailer/lib/smtp-connection';
import SMTPTransport from 'nodemailer/lib/smtp-transport';

import { about, type Finding } from '#desk/doctor/finding.ts';
import type { Look } from '#server/db/backup/look-at-database.ts';
import { rememberAddresses } from '#server/mail/mail-server-addresses.ts';
import { connectionOptions, explainAccount } from '#server/mail/mailer.ts';
import { DAY_MS } from '#server/platform/time.ts';
import { isLoopback } from '#server/platform/loopback.ts';

const { ok, note, warning, problem } = about('mail account');

/** Limit for each step: DNS, connection, greeting, and every reply. */
const STEP_MS = 5_000;
const SOON_DAYS = 14;

/**
 * @param url SMTP_URL
 * @param publicUrl PUBLIC_URL
 * @param now milliseconds since 1970
 */
export async function examineMailAccount(
  url: string,
  { publicUrl, now, signal }: { publicUrl: string; now: number; signal: AbortSignal },
): Promise<readonly Finding[]> {
  await rememberAddresses(url);
  const transport = new SMTPTransport({
    ...connectionOptions(url, publicUrl),
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    dnsTimeout: STEP_MS,
    socketTimeout: STEP_MS,
  });
  const connection = new SMTPConnection(transport.options);
  const { promise: broken, reject: breakOff } = Promise.withResolvers<never>();
  // Handled here, because it may reject before the first await.
  broken.catch(() => {});
  connection.on('error', breakOff);
  connection.once('end', () => breakOff(Object.assign(new Error('closed'), { code: 'ECONNECTION' })));
  signal.addEventListener('abort', () => breakOff(Object.assign(new Error('late'), { code: 'ETIMEDOUT' })), {
    once: true,
  });
  const host = new URL(url).hostname;
  try {
    await Promise.race([
      broken,
      new Promise<void>((resolve, reject) => {
        connection.connect((error) => (error ? reject(error) : resolve()));
      }),
    ]);
    const encryption = judgeEncryption(connection, { url, host, now });
    const { auth } = transport;
    if (!auth)
      return [
        ...encryption,
        note(
          `${host} greets us. SMTP_URL has no user, so that no login was tried${connection.allowsAuth && !isLoopback(host) ? '; it offers one, and may refuse mail without' : ''}.`,
        ),
      ];
    await Promise.race([
      broken,
      new Promise<void>((resolve, reject) => {
        connection.login(auth, (error) => (error ? reject(error) : resolve()));
      }),
    ]);
    return [
      ...encryption,
      ok(
        `${host} takes the login of SMTP_URL. Whether it takes mail from MAIL_FROM, doctor --send ADDRESS tries.`,
      ),
    ];
  } catch (error) {
    return [problem(explainAccount(error, url))];
  } finally {
    connection.close();
  }
}

/** @param look null if the database is missing or unreadable */
export const judgeRefusals = (look: Look | null): readonly Finding[] =>
  look?.refusesEverybody
    ? [
        problem(
          'The mail server refused everybody within the last hour, and took no mail. Read its words (npm run -s desk -- lost), and check SMTP_URL, MAIL_FROM and the account with the provider.',
        ),
      ]
    : [];

function judgeEncryption(
  connection: SMTPConnection,
  { url, host, now }: { url: string; host: string; now: number },
): Finding[] {
  const socket = connection._socket;
  if (!connection.secure || !(socket instanceof TLSSocket)) {
    const hasLogin = new URL(url).username !== '';
    if (isLoopback(host))
      return [note(`The connection to ${host} is not encrypted; it stays on this machine.`)];
    return [
      warning(
        hasLogin
          ? `The connection to ${host} is not encrypted, and user, password and codes go over it, as SMTP_URL says.`
          : `The connection to ${host} is not encrypted: who is on the way can read the codes. Add ?requireTLS=true to SMTP_URL if ${host} offers TLS.`,
      ),
    ];
  }
  const { valid_to: end } = socket.getPeerCertificate();
  const encrypted = `The connection to ${host} is encrypted (${socket.getProtocol() ?? 'TLS'})`;
  if (!socket.authorized)
    return [warning(`${encrypted}, but its certificate is not one that can be trusted, as SMTP_URL allows.`)];
  const days = Math.floor((Date.parse(end) - now) / DAY_MS);
  return days < SOON_DAYS
    ? [warning(`${encrypted}. Its certificate ends in ${days} days; the operator of ${host} must renew it.`)]
    : [ok(`${encrypted}, with a certificate that can be trusted.`)];
}

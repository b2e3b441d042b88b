import { randomUUIDv7 } from 'node:crypto';
import path from 'node:path';
import { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';

import SMTPConnection from 'nodemailer/lib/smtp-connection';
import SMTPTransport from 'nodemailer/lib/smtp-transport';

import { about, type Findings } from '#desk/doctor/finding.ts';
import type { Finding } from '#desk/endpoints/figures.ts';
import {
  connectionOptions,
  createMailer,
  explainAccount,
  cacheIfOneFamilyIsSilent,
  senderAddress,
} from '#server/mail/mailer.ts';
import { escapeHtml } from '#server/platform/text.ts';
import type { Config } from '#server/settings/settings.ts';
import { isLoopback } from '#server/platform/ip-addresses.ts';

const { ok, note, warning, problem } = about('mail account');
const sample = about('sample');

const STEP_MS = 5_000;

export async function examineMailAccount(
  mail: Config['mail'],
  { publicUrl, signal }: { publicUrl: string; signal: AbortSignal },
): Promise<Findings> {
  if (mail.kind === 'files')
    return warning(
      'SMTP_URL is not set, so e-mails are written to files in data/mail/ and visitors get no codes. Set SMTP_URL to your mail account.',
    );
  const { url } = mail;
  await cacheIfOneFamilyIsSilent(url);
  const transport = new SMTPTransport({
    ...connectionOptions(url, publicUrl),
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    dnsTimeout: STEP_MS,
    socketTimeout: STEP_MS,
  });
  const connection = new SMTPConnection(transport.options);
  const { promise: failure, reject: fail } = Promise.withResolvers<never>();
  // The promise may reject before it is awaited.
  failure.catch(() => {});
  connection.on('error', fail);
  connection.once('end', () => fail(Object.assign(new Error('closed'), { code: 'ECONNECTION' })));
  signal.addEventListener('abort', () => fail(Object.assign(new Error('late'), { code: 'ETIMEDOUT' })), {
    once: true,
  });
  const host = new URL(url).hostname;
  try {
    await Promise.race([failure, promisify(connection.connect.bind(connection))()]);
    const encryption = judgeEncryption(connection, url);
    const { auth } = transport;
    if (!auth)
      return [
        encryption,
        note(
          `${host} responds. No login was tried because SMTP_URL has no user${connection.allowsAuth && !isLoopback(host) ? ', but this server offers a login and may refuse mail without it' : ''}.`,
        ),
      ];
    await Promise.race([failure, promisify(connection.login.bind(connection))(auth)]);
    return [
      encryption,
      ok(
        `${host} accepts the login in SMTP_URL. To test whether it accepts mail from MAIL_FROM, run doctor --send ADDRESS.`,
      ),
    ];
  } catch (error) {
    return problem(explainAccount(error, url));
  } finally {
    connection.close();
  }
}

function judgeEncryption(connection: SMTPConnection, url: string): Finding {
  const host = new URL(url).hostname;
  const socket = connection._socket;
  if (!connection.secure || !(socket instanceof TLSSocket)) {
    if (isLoopback(host))
      return note(`The connection to ${host} is not encrypted, but it stays on this machine.`);
    return warning(
      new URL(url).username !== ''
        ? `The connection to ${host} is not encrypted, so user, password and codes are sent in clear. A parameter of SMTP_URL allows this. Remove it if ${host} offers TLS.`
        : `The connection to ${host} is not encrypted, so others on the network can read the codes. Add ?requireTLS=true to SMTP_URL if ${host} offers TLS.`,
    );
  }
  const encrypted = `The connection to ${host} is encrypted (${socket.getProtocol() ?? 'TLS'})`;
  if (!socket.authorized)
    return warning(
      `${encrypted}, but the certificate is not trusted. A parameter of SMTP_URL allows this. Remove it once ${host} has a trusted certificate.`,
    );
  return ok(`${encrypted}, and its certificate is trusted.`);
}

export async function sendSample(
  config: Config,
  { to, title, folder, signal }: { to: string; title: string; folder: string; signal: AbortSignal },
): Promise<Finding> {
  const { mail, bounceDomain } = config;
  const mailer = createMailer(config, {
    title,
    folder: path.join(folder, 'data', 'mail'),
    announce: () => {},
    // Uses the same envelope domain as codes, so that SPF is checked for it. Bounces to this address are ignored.
    returnPathOf: bounceDomain === null ? undefined : () => `sample@${bounceDomain}`,
  });
  try {
    const outcome = await mailer.send(composeSample(config, to, title), signal);
    if (mail.kind === 'files' && outcome.type === 'sent')
      return sample.note(`SMTP_URL is not set, so the sample for ${to} was ${outcome.reply}.`);
    if (outcome.type === 'sent')
      return sample.ok(
        `The mail server accepted a sample for ${to} with the reply “${oneLine(outcome.reply)}”. Check that the sample arrived in the inbox and not in the spam folder.`,
      );
    return sample.problem(
      outcome.type === 'refused'
        ? `The mail server refused the sample for ${to}: ${oneLine(outcome.reason)}`
        : `The sample for ${to} could not be sent: ${oneLine(outcome.reason)}`,
    );
  } finally {
    mailer.close();
  }
}

const oneLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ');

function composeSample(config: Config, to: string, title: string) {
  const sentences = [
    `This is a test. The operator of “${title}” sent it to check whether the site’s e-mails arrive.`,
    `It was sent from ${senderAddress(config)} in the same way as codes. You do not need to do anything.`,
  ];
  return {
    id: randomUUIDv7(),
    to,
    subject: 'Test: e-mails from your site arrive',
    text: `${sentences.join('\n\n')}\n`,
    html: `<!doctype html>\n<html lang="en"><body>${sentences.map((sentence) => `<p>${escapeHtml(sentence)}</p>`).join('')}</body></html>\n`,
  };
}

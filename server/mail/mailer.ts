// Sends mail: by SMTP when there is an account, into .eml files when there is none. No other file does.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

import { createTransport, type NodemailerError, type SendMailOptions } from 'nodemailer';
import MailComposer from 'nodemailer/lib/mail-composer';
import { encodeWord } from 'nodemailer/lib/mime-funcs';

import { rememberAddresses } from '#server/mail/mail-server-addresses.ts';
import { dkimOptions } from '#server/mail/dkim-key.ts';
import { REFUSES_US } from '#server/db/tables/outbox.ts';
import { SMTP_CONNECTIONS } from '#server/jobs/mail-jobs.ts';
import { domainOf } from '#server/platform/domain-of.ts';
import type { Config, DkimConfig, Mailbox } from '#server/settings/settings.ts';
import { needsTls } from '#server/platform/smtp-url.ts';
import { isAboutUs, meaningOf, type AnswerMeaning } from '#server/platform/mail-server-answers.ts';
import { makeWholeFolderPrivate } from '#server/platform/private-files.ts';

export type Mail = {
  /** Becomes the Message-ID, so that mail delivered twice shows as one. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** For mail that its reader agreed to receive: the list it belongs to, and the unsubscribe link. */
  readonly list?: { readonly name: string; readonly host: string; readonly unsubscribe: string };
  readonly attachment?: { readonly filename: string; readonly content: Buffer };
  /** The kind of letter; Gmail counts complaints by it. */
  readonly kind?: string;
};

type MailSendOutcome =
  /** Replies and reasons are in the server's words; the outbox shortens and cleans them. */
  | { readonly type: 'sent'; readonly reply: string }
  /** Worth another try: the server is away or busy, or it refuses us, whoever the recipient is. */
  | { readonly type: 'failed for now'; readonly reason: string; readonly errorClass: string }
  /** The server refused this recipient or this message for good. */
  | {
      readonly type: 'refused';
      readonly reason: string;
      readonly errorClass: string;
      /** What the reply means for the address. */
      readonly meaning: AnswerMeaning;
    };

export type Mailer = {
  /** Sends one mail. Never throws: a failure is an outcome. */
  readonly send: (mail: Mail, signal: AbortSignal) => Promise<MailSendOutcome>;
  /**
   * Tries the mail account without sending anything: connection, TLS, login. Never throws.
   * @returns null when it works, or one sentence that says what does not
   */
  readonly tryAccount: () => Promise<string | null>;
  /** @param mailId {@link Mail.id} */
  readonly messageIdOf: (mailId: string) => string;
  readonly close: () => void;
};

/** A server that has not greeted by then counts as away; the outbox tries again. */
const TIMEOUT_MS = 10_000;
/** Filters look into a message before the server accepts it. When we give up meanwhile, the message is mailed again. */
const ANSWER_TIMEOUT_MS = 20_000;
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/**
 * The connection settings for a mail server.
 * @param url a value of SMTP_URL, of which `?name=` and the like take precedence
 * @param publicUrl a value of PUBLIC_URL
 */
export const connectionOptions = (url: string, publicUrl: string) => ({
  url,
  ...greetingName(publicUrl),
  ...(needsTls(url) && { requireTLS: true }),
  // Without a login, a server that has no AUTH on this port would refuse each recipient as a stranger's.
  forceAuth: new URL(url).username !== '',
  connectionTimeout: TIMEOUT_MS,
  greetingTimeout: TIMEOUT_MS,
  dnsTimeout: TIMEOUT_MS,
  socketTimeout: ANSWER_TIMEOUT_MS,
  // A long acceptance is still an acceptance; giving up on it would mail the code again.
  maxResponseSize: MAX_RESPONSE_BYTES,
});

/** The name we greet with. Without one, nodemailer says "[127.0.0.1]" in every container, and many servers refuse that. */
function greetingName(publicUrl: string): { name?: string } {
  const { hostname } = new URL(publicUrl);
  return hostname.includes('.') && isIP(hostname) === 0 ? { name: hostname } : {};
}

/** The address to which reports about a mail are returned. @param mailId {@link Mail.id} */
type ReturnPathOf = (mailId: string) => string;

/** A Mailer with pooled SMTP connections. @param options returnPathOf: without it, the sender's address */
export function createSmtpMailer({
  url,
  publicUrl,
  dkim,
  from,
  returnPathOf,
}: {
  url: string;
  publicUrl: string;
  dkim: DkimConfig | null;
  from: Mailbox;
  returnPathOf?: ReturnPathOf | undefined;
}): Mailer {
  const transport = createTransport({
    pool: true,
    ...connectionOptions(url, publicUrl),
    maxConnections: SMTP_CONNECTIONS,
    // Only the outbox tries again; a second, hidden queue would send duplicates.
    maxRequeues: 0,
    ...(dkim && { dkim: dkimOptions(dkim) }),
  });
  /** Message-IDs of mail whose bytes were asked for: the server had taken the connection and the login. */
  const begun = new Set<unknown>();
  transport.use('stream', ({ data: { messageId }, message }, next) => {
    message.processFunc((bytes) => {
      begun.add(messageId);
      return bytes;
    });
    next();
  });
  return {
    send: async (mail, signal) => {
      const message = messageOf(mail, from);
      try {
        await rememberAddresses(url);
        const { response } = await transport.sendMail({
          ...message,
          envelope: {
            // The address to which mail servers return reports. Readers see `from`.
            from: returnPathOf?.(mail.id) ?? inAscii(from.address),
            // An array, so that no address can be read as a list of several.
            to: [inAscii(mail.to)],
          },
          signal,
        });
        return { type: 'sent', reply: response };
      } catch (error) {
        return classifyFailure(error, begun.has(message.messageId));
      } finally {
        begun.delete(message.messageId);
      }
    },
    tryAccount: async () => {
      try {
        await rememberAddresses(url);
        await transport.verify();
        return null;
      } catch (error) {
        return explainAccount(error, url);
      }
    },
    messageIdOf: (mailId) => messageIdOf(mailId, from),
    close: () => transport.close({ force: true }),
  };
}

/**
 * A Mailer that writes each e-mail into a folder, to try the page out without an account.
 * @param announce called for each file, so that the code can be read in the terminal
 */
function createFileMailer(
  folder: string,
  from: Mailbox,
  announce: (mail: Mail, file: string) => void,
): Mailer {
  makeWholeFolderPrivate(folder);
  return {
    send: async (mail) => {
      try {
        const file = path.join(folder, `${mail.id}.eml`);
        // These files hold codes; other users of the machine must not read them.
        const bytes = await new MailComposer(messageOf(mail, from)).compile().build();
        await writeFile(file, bytes, { mode: 0o600 });
        announce(mail, file);
        return { type: 'sent', reply: `written to ${file}` };
      } catch (error) {
        return { type: 'failed for now', reason: reasonOf(error), errorClass: 'file' };
      }
    },
    tryAccount: async () => null,
    messageIdOf: (mailId) => messageIdOf(mailId, from),
    close: () => {},
  };
}

const senderDomainOf = ({ address }: Mailbox): string => domainToASCII(domainOf(address));

const messageIdOf = (mailId: string, from: Mailbox): string => `<${mailId}@${senderDomainOf(from)}>`;

/** The id by which Gmail counts complaints: three names of ours, and one of the sender (5 to 15 characters). Not personal. */
const feedbackIdOf = (kind: string, from: Mailbox): string => {
  const sender = senderDomainOf(from)
    .toLowerCase()
    .replaceAll(/[^a-z\d]/g, '');
  return `${kind}:mail:lead-page:${sender.slice(0, 15).padEnd(5, '0')}`;
};

/** A mail as nodemailer composes it. */
const messageOf = (
  { id, to, subject, text, html, list, kind, attachment }: Mail,
  from: Mailbox,
): SendMailOptions => ({
  // As a string, it would be parsed, and a name with a colon would become a group.
  from: { ...from },
  to: { name: '', address: to },
  subject,
  messageId: messageIdOf(id, from),
  headers: {
    ...(list && listHeaders(list)),
    // RFC 3834: asks for no vacation notices.
    'Auto-Submitted': 'auto-generated',
    'X-Auto-Response-Suppress': 'All',
    'Feedback-ID': feedbackIdOf(kind ?? 'other', from),
  },
  text,
  html,
  ...(attachment && { attachments: [attachment] }),
  xMailer: false,
  disableFileAccess: true,
  disableUrlAccess: true,
});

/** RFC 2919 names the list, RFC 2369 has the unsubscribe link, RFC 8058 makes it work with one click (https only). */
const listHeaders = ({ name, host, unsubscribe }: NonNullable<Mail['list']>) => ({
  'List-Id': `${/^[\w ]*$/.test(name) ? name : encodeWord(name, 'B', 52)} <guide.${host}>`,
  'List-Unsubscribe': `<${unsubscribe}>`,
  ...(unsubscribe.startsWith('https:') && { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
});

/** A 5yz reply (RFC 5321) to these commands is a final refusal of the recipient or the message. */
const FINAL_COMMANDS = new Set(['RCPT TO', 'DATA']);

/** @param isConnected whether the server had taken the connection and the login */
function classifyFailure(error: unknown, isConnected: boolean): MailSendOutcome {
  const details: Partial<NodemailerError> = error instanceof Error ? error : {};
  const status = typeof details.responseCode === 'number' ? details.responseCode : 0;
  const command = typeof details.command === 'string' ? details.command : '';
  // The server's own reply; nodemailer puts words before it.
  const reason = status > 0 && details.response ? details.response : reasonOf(error);
  const errorClass =
    status > 0
      ? `${Math.floor(status / 100)}xx`
      : fellSilent(details)
        ? 'stalled'
        : isConnected && droppedLine(details)
          ? 'cut off'
          : typeof details.code === 'string'
            ? details.code
            : 'unknown';
  // A 5yz to another command (login, MAIL FROM) is about our own account, which the operator can repair in time.
  if (status < 500 || !FINAL_COMMANDS.has(command)) return { type: 'failed for now', reason, errorClass };
  if (isAboutUs(reason)) return { type: 'failed for now', reason, errorClass: REFUSES_US };
  // Each mail has one recipient, so a reply to DATA with such a code is about the address, too.
  return { type: 'refused', reason, errorClass, meaning: meaningOf(reason) };
}

/** Whether the server accepted the connection and then did not reply in time. It may wait for the recipient's server. */
const fellSilent = ({ code, timeoutType }: Partial<NodemailerError>): boolean =>
  code === 'EABORT' || timeoutType === 'SOCKET_TIMEOUT';

/** Whether the line broke without a reply. During a message, that may be about this one alone: a filter may not like it. */
const droppedLine = ({ code }: Partial<NodemailerError>): boolean =>
  code === 'ECONNECTION' || code === 'ESOCKET';

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Explains a failed try to the operator, without the server's words, which often repeat the user's name.
 * @param url a value of SMTP_URL
 */
export function explainAccount(error: unknown, url: string): string {
  const { hostname, host } = new URL(url);
  const details: Partial<NodemailerError> = error instanceof Error ? error : {};
  // The code of the system or of TLS; nodemailer calls all of them ESOCKET.
  const code = details.originalCode ?? details.code ?? 'unknown';
  const command = details.command ?? '';
  const later = 'Mail waits in the outbox and is tried again.';
  const status = details.responseCode ?? 0;
  if (code === 'EAUTH' || command.startsWith('AUTH')) {
    if (status >= 400 && status < 500)
      return `The mail server ${hostname} cannot check the login for now (${status}). ${later}`;
    if (status === 504)
      return `The mail server ${hostname} does not take this kind of login (504): add ?authMethod=LOGIN to SMTP_URL. ${later}`;
    if ([500, 502, 503].includes(status))
      return `The mail server ${host} takes no login here (${status}): use the port for sending in SMTP_URL (587 or 465), or leave out user and password if it wants none. ${later}`;
    return `The mail server ${hostname} refused the login: check user and password in SMTP_URL. ${later}`;
  }
  if (status > 0 && /^(?:EHLO|HELO|CONN)$/.test(command))
    return `The mail server ${hostname} refused our greeting (${status}): it may want another name than the host of PUBLIC_URL (add ?name=mail.example.com to SMTP_URL), or not take mail from this machine. ${later}`;
  if (code === 'ETLS' || code.startsWith('ERR_TLS') || /CERT|SELF_SIGNED|LEAF_SIGNATURE/.test(code)) {
    return `The mail server ${hostname} offers no TLS that can be trusted (${code}), and the login must not go in clear: check host and port in SMTP_URL. ${later}`;
  }
  return `The mail server ${host} cannot be used (${code}): check host and port in SMTP_URL. ${later}`;
}

/** The sender of our mail. */
const senderOf = ({ mailFrom, publicUrl }: Pick<Config, 'mailFrom' | 'publicUrl'>, title: string): Mailbox =>
  mailFrom ?? { name: title, address: `guide@${new URL(publicUrl).hostname}` };

/** An address with its domain in ASCII, as every mail server takes it. */
function inAscii(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + (domainToASCII(address.slice(at)) || address.slice(at));
}

/** The address that our mail comes from. */
export const senderAddress = (config: Pick<Config, 'mailFrom' | 'publicUrl'>): string =>
  senderOf(config, '').address;

/** Makes the Mailer that the settings ask for. */
export function createMailer(
  config: Pick<Config, 'mail' | 'mailFrom' | 'publicUrl'>,
  {
    title,
    folder,
    announce,
    returnPathOf,
  }: {
    title: string;
    folder: string;
    announce: (mail: Mail, file: string) => void;
    returnPathOf?: ReturnPathOf | undefined;
  },
): Mailer {
  const from = senderOf(config, title);
  return config.mail.kind === 'smtp'
    ? createSmtpMailer({
        url: config.mail.url,
        publicUrl: config.publicUrl,
        dkim: config.mail.dkim,
        from,
        returnPathOf,
      })
    : createFileMailer(folder, from, announce);
}

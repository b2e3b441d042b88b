import { Resolver } from 'node:dns/promises';
import { writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { domainToASCII } from 'node:url';

import { createTransport, type NodemailerError, type SendMailOptions } from 'nodemailer';
import MailComposer from 'nodemailer/lib/mail-composer';
import { encodeWord } from 'nodemailer/lib/mime-funcs';
import { dnsCache } from 'nodemailer/lib/shared';

import { CUT_OFF, REFUSES_US, STALLED } from '#server/db/tables/outbox.ts';
import { SMTP_CONNECTIONS } from '#server/jobs/mail-jobs.ts';
import { dkimOptions } from '#server/mail/dkim-key.ts';
import { bareHost } from '#server/platform/ip-addresses.ts';
import { domainOf } from '#server/platform/text.ts';
import { type ReplyMeaning, isAboutUs, meaningOf } from '#server/platform/mail-server-replies.ts';
import { makeWholeFolderPrivate } from '#server/platform/files.ts';
import { needsTls } from '#server/settings/connection-urls.ts';
import type { Config, Mailbox } from '#server/settings/settings.ts';

export type Mail = {
  /** Becomes the Message-ID, so duplicate deliveries are shown as one. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly replyTo?: string;
  readonly list?: { readonly name: string; readonly host: string; readonly unsubscribe: string };
  readonly attachment?: { readonly filename: string; readonly content: Buffer };
  /** Gmail counts complaints by this name. */
  readonly kind?: string;
};

type MailSendOutcome =
  /** `reply` is the server's; the outbox shortens and cleans it. */
  | { readonly type: 'sent'; readonly reply: string }
  /**
   * The server is unreachable or busy, or refuses the site regardless of the recipient. outbox.ts infers from `errorClass`
   * (REFUSES_US, STALLED, CUT_OFF, 4xx, 5xx, or nodemailer's code) whether the server is away. It is also the label of a metric.
   */
  | { readonly type: 'failed for now'; readonly reason: string; readonly errorClass: string }
  | {
      readonly type: 'refused';
      readonly reason: string;
      readonly errorClass: string;
      readonly meaning: ReplyMeaning;
    };

export type Mailer = {
  /** Never throws, because a failure is an outcome. */
  readonly send: (mail: Mail, signal: AbortSignal) => Promise<MailSendOutcome>;
  /**
   * Tries connection, TLS and login without sending mail. Never throws.
   * @returns null on success, otherwise a sentence
   */
  readonly tryAccount: () => Promise<string | null>;
  readonly messageIdOf: (mailId: string) => string;
  readonly close: () => void;
};

type ReturnPathOf = (mailId: string) => string;

export function createMailer(
  config: Pick<Config, 'mail' | 'mailFrom' | 'publicUrl'>,
  options: {
    title: string;
    folder: string;
    announce: (mail: Mail, file: string) => void;
    /** By default, the return path is the sender's e-mail address. */
    returnPathOf?: ReturnPathOf | undefined;
  },
): Mailer {
  const { title, folder, announce, returnPathOf } = options;
  const from = senderOf(config, title);
  return config.mail.kind === 'smtp'
    ? createSmtpMailer(config.mail, config.publicUrl, from, returnPathOf)
    : createFileMailer(folder, from, announce);
}

const senderOf = ({ mailFrom, publicUrl }: Pick<Config, 'mailFrom' | 'publicUrl'>, title: string): Mailbox =>
  mailFrom ?? { name: title, address: `guide@${new URL(publicUrl).hostname}` };

export const senderAddress = (config: Pick<Config, 'mailFrom' | 'publicUrl'>): string =>
  senderOf(config, '').address;

/** A server that hasn't sent a greeting by then counts as unreachable. */
const TIMEOUT_MS = 10_000;
/** Filters inspect a message before the server accepts it. Giving up meanwhile would send it twice. */
const REPLY_TIMEOUT_MS = 20_000;
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/** Options in the URL, such as `?name=`, take precedence. */
export const connectionOptions = (url: string, publicUrl: string) => ({
  url,
  ...greetingName(publicUrl),
  ...(needsTls(url) && { requireTLS: true }),
  // Without authentication, a submission server would refuse each recipient as a stranger's.
  forceAuth: new URL(url).username !== '',
  connectionTimeout: TIMEOUT_MS,
  greetingTimeout: TIMEOUT_MS,
  dnsTimeout: TIMEOUT_MS,
  socketTimeout: REPLY_TIMEOUT_MS,
  // If we gave up on a long reply, the code would be sent twice.
  maxResponseSize: MAX_RESPONSE_BYTES,
});

/** Without a name, nodemailer greets with "[127.0.0.1]" in every container, which many servers refuse. */
function greetingName(publicUrl: string): { name?: string } {
  const { hostname } = new URL(publicUrl);
  return hostname.includes('.') && isIP(hostname) === 0 ? { name: hostname } : {};
}

function createSmtpMailer(
  { url, dkim }: Extract<Config['mail'], { kind: 'smtp' }>,
  publicUrl: string,
  from: Mailbox,
  returnPathOf: ReturnPathOf | undefined,
): Mailer {
  const transport = createTransport({
    pool: true,
    ...connectionOptions(url, publicUrl),
    maxConnections: SMTP_CONNECTIONS,
    // Only the outbox retries; a second queue would send duplicates.
    maxRequeues: 0,
    ...(dkim && { dkim: dkimOptions(dkim) }),
  });
  /** IDs of messages whose bytes were requested, so the mail server is not away: connection and login had worked (CUT_OFF). */
  const hadConnected = new Set<unknown>();
  transport.use('stream', ({ data: { messageId }, message }, next) => {
    // The pool creates this stream only after the login.
    message.processFunc((stream) => {
      hadConnected.add(messageId);
      return stream;
    });
    next();
  });
  return {
    send: async (mail, signal) => {
      const message = messageOf(mail, from);
      try {
        await cacheIfOneFamilyIsSilent(url);
        const { response } = await transport.sendMail({
          ...message,
          envelope: {
            from: returnPathOf?.(mail.id) ?? inAscii(from.address),
            // An array, because a string could be parsed as several e-mail addresses.
            to: [inAscii(mail.to)],
          },
          signal,
        });
        return { type: 'sent', reply: response };
      } catch (error) {
        return classifyFailure(error, hadConnected.has(message.messageId));
      } finally {
        hadConnected.delete(message.messageId);
      }
    },
    tryAccount: async () => {
      try {
        await cacheIfOneFamilyIsSilent(url);
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

/** @param announce called for each file, to show the code in the terminal */
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

/** Returns Gmail's Feedback-ID: four names, the last with 5 to 15 characters. Contains no personal data. */
const feedbackIdOf = (kind: string, from: Mailbox): string => {
  const sender = senderDomainOf(from)
    .toLowerCase()
    .replaceAll(/[^a-z\d]/g, '');
  return `${kind}:mail:lead-page:${sender.slice(0, 15).padEnd(5, '0')}`;
};

const messageOf = (
  { id, to, subject, text, html, replyTo, list, kind, attachment }: Mail,
  from: Mailbox,
): SendMailOptions => ({
  // An object, because a string would be parsed, and a name with a colon would become a group.
  from: { ...from },
  to: { name: '', address: to },
  ...(replyTo !== undefined && { replyTo: { name: '', address: replyTo } }),
  subject,
  messageId: messageIdOf(id, from),
  headers: {
    ...(list && listHeaders(list)),
    // Prevents vacation notices (RFC 3834).
    'Auto-Submitted': 'auto-generated',
    // The same for Exchange. "All" would also suppress its bounces ([MS-OXCMAIL], section 2.1.3.2.20).
    'X-Auto-Response-Suppress': 'DR, RN, NRN, OOF, AutoReply',
    'Feedback-ID': feedbackIdOf(kind ?? 'other', from),
  },
  text,
  html,
  ...(attachment && { attachments: [attachment] }),
  xMailer: false,
  disableFileAccess: true,
  disableUrlAccess: true,
});

/** List-Id: RFC 2919; List-Unsubscribe: RFC 2369; one click: RFC 8058 (https only). */
const listHeaders = ({ name, host, unsubscribe }: NonNullable<Mail['list']>) => ({
  'List-Id': `${/^[\w ]*$/.test(name) ? name : encodeWord(name, 'B', 52)} <guide.${host}>`,
  'List-Unsubscribe': `<${unsubscribe}>`,
  ...(unsubscribe.startsWith('https:') && { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
});

/** A 5yz reply (RFC 5321) to these is final for the recipient or message. */
const FINAL_COMMANDS = new Set(['RCPT TO', 'DATA']);

function classifyFailure(error: unknown, hadConnected: boolean): MailSendOutcome {
  const details: Partial<NodemailerError> = error instanceof Error ? error : {};
  const status = typeof details.responseCode === 'number' ? details.responseCode : 0;
  const command = typeof details.command === 'string' ? details.command : '';
  const reason = status > 0 && details.response ? details.response : reasonOf(error);
  const errorClass = errorClassOf(status, details, hadConnected);
  // An error at another command concerns our account, which the operator may repair before the mail expires.
  if (status < 500 || !FINAL_COMMANDS.has(command)) return { type: 'failed for now', reason, errorClass };
  if (isAboutUs(reason)) return { type: 'failed for now', reason, errorClass: REFUSES_US };
  // Also applies to DATA, because each mail has one recipient.
  return { type: 'refused', reason, errorClass, meaning: meaningOf(reason) };
}

function errorClassOf(
  status: number,
  { code, timeoutType }: Partial<NodemailerError>,
  hadConnected: boolean,
): string {
  if (status > 0) return `${Math.floor(status / 100)}xx`;
  if (code === 'EABORT' || timeoutType === 'SOCKET_TIMEOUT') return STALLED;
  if (hadConnected && (code === 'ECONNECTION' || code === 'ESOCKET')) return CUT_OFF;
  return typeof code === 'string' ? code : 'unknown';
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Omits the server's reply, which often contains the user's name. */
export function explainAccount(error: unknown, url: string): string {
  const { hostname, host } = new URL(url);
  const details: Partial<NodemailerError> = error instanceof Error ? error : {};
  // `originalCode` comes first, because nodemailer reports all of these errors as ESOCKET.
  const code = details.originalCode ?? details.code ?? 'unknown';
  const command = details.command ?? '';
  const later = 'E-mails stay queued and will be retried.';
  const status = details.responseCode ?? 0;
  if (code === 'EAUTH' || command.startsWith('AUTH'))
    return `The mail server ${hostname} refused the login (${status || code}). Check user, password and port in SMTP_URL. For another type of login, add ?authMethod=LOGIN; if the server needs no login, leave out user and password. ${later}`;
  if (status > 0 && /^(?:EHLO|HELO|CONN)$/.test(command))
    return `The mail server ${hostname} refused our greeting (${status}). The server may expect a name other than the host of PUBLIC_URL (add ?name=mail.example.com to SMTP_URL), or may not accept mail from this machine. ${later}`;
  if (code === 'ETLS' || code.startsWith('ERR_TLS') || /CERT|SELF_SIGNED|LEAF_SIGNATURE/.test(code)) {
    return `The mail server ${hostname} offers no trusted TLS connection (${code}). Check host and port in SMTP_URL. Only for your own relay, add ?tls.rejectUnauthorized=false if its certificate is self-signed, or ?requireTLS=false if it has no TLS. ${later}`;
  }
  // OpenSSL's name for a reply without TLS.
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return `The mail server ${host} does not use TLS from the start. Write smtp:// instead of smtps:// in SMTP_URL. ${later}`;
  if (url.startsWith('smtp:') && details.timeoutType === 'GREETING_TIMEOUT')
    return `The mail server ${host} sent no greeting. If it uses TLS from the start (usually on port 465), write smtps:// instead of smtp:// in SMTP_URL. ${later}`;
  return `The mail server ${host} cannot be reached (${code}). Check host and port in SMTP_URL. ${later}`;
}

/** Mail servers need not support other domains. */
function inAscii(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + (domainToASCII(address.slice(at)) || address.slice(at));
}

/** How long the second DNS reply may take after the first. */
const GRACE_MS = 1_000;
const CACHE_MS = 10_000;

type FamilyResolver = Pick<Resolver, 'resolve4' | 'resolve6' | 'cancel'>;

/**
 * nodemailer resolves both address families and waits for both replies, so a DNS server that replies for only one would make
 * every delivery time out. In this case, caches the IP addresses of that one for nodemailer. Otherwise does nothing.
 */
export async function cacheIfOneFamilyIsSilent(
  url: string,
  createResolver: () => FamilyResolver = () => new Resolver({ timeout: 2_000, tries: 2 }),
): Promise<void> {
  const host = bareHost(new URL(url).hostname);
  const cached = dnsCache.get(host);
  if (isIP(host) !== 0 || (cached !== undefined && (cached.expires ?? Infinity) > Date.now())) return;
  const resolver = createResolver();
  const addresses: string[] = [];
  const families = [resolver.resolve4(host), resolver.resolve6(host)].map(async (reply) => {
    addresses.push(...(await reply));
    // Without an IP address, the wait for the other family must not begin.
    if (addresses.length === 0) throw new Error('No IP address.');
  });
  const bothReplied = Promise.allSettled(families).then(() => 'both' as const);
  const oneRepliedLongAgo = Promise.any(families).then(
    () => setTimeout(GRACE_MS, 'one' as const, { ref: false }),
    () => bothReplied,
  );
  const replied = await Promise.race([bothReplied, oneRepliedLongAgo]);
  resolver.cancel();
  if (replied === 'one') dnsCache.set(host, { value: { addresses }, expires: Date.now() + CACHE_MS });
}

// A real SMTP server that keeps what it receives.
import { once } from 'node:events';

import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerDataStream } from 'smtp-server';

export type ReceivedMail = {
  readonly to: string;
  /** As it came over the wire. */
  readonly raw: string;
  readonly parsed: Email;
};

export type Inbox = {
  /** For SMTP_URL. */
  readonly url: string;
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  /** Mail for one recipient, oldest first. */
  readonly mailsTo: (address: string) => ReceivedMail[];
  /** Waits until a recipient has this many mails, and returns the newest. */
  readonly waitForMail: (address: string, count?: number) => Promise<ReceivedMail>;
  readonly close: () => Promise<void>;
};

/** What the server does with a recipient or a message, instead of accepting it. */
export type InboxBehaviour = {
  readonly onRecipient?: (address: string) => Error | null;
  /** May take its time: the sender waits for the answer. */
  readonly onMessage?: () => Error | null | Promise<Error | null>;
};

const PATIENCE_MS = 10_000;

/** Starts it on a free port of 127.0.0.1, or on the one given. */
export async function startInbox(behaviour: InboxBehaviour = {}, port = 0): Promise<Inbox> {
  const mails: ReceivedMail[] = [];
  const waiting = new Set<() => void>();

  const receive = async (stream: SMTPServerDataStream, to: string) => {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(Buffer.from(chunk));
    const raw = Buffer.concat(chunks).toString('utf8');
    const refusal = (await behaviour.onMessage?.()) ?? null;
    if (refusal) throw refusal;
    mails.push({ to, raw, parsed: await PostalMime.parse(raw) });
    for (const check of waiting) check();
  };

  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    onRcptTo: (address, _session, callback) => callback(behaviour.onRecipient?.(address.address) ?? null),
    onData: (stream, session, callback) => {
      receive(stream, session.envelope.rcptTo[0]?.address ?? '').then(
        () => callback(),
        (error: Error) => callback(error),
      );
    },
  });
  server.on('error', () => {});
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  const address = server.server.address();
  const actualPort = typeof address === 'object' && address !== null ? address.port : port;

  const mailsTo = (recipient: string) =>
    mails.filter((mail) => mail.to.toLowerCase() === recipient.toLowerCase());
  return {
    url: `smtp://127.0.0.1:${actualPort}`,
    port: actualPort,
    mails,
    mailsTo,
    waitForMail: (recipient, count = 1) =>
      new Promise((resolve, reject) => {
        const check = () => {
          const newest = mailsTo(recipient)[count - 1];
          if (newest === undefined) return;
          clearTimeout(timer);
          waiting.delete(check);
          resolve(newest);
        };
        const timer = setTimeout(() => {
          waiting.delete(check);
          reject(new Error(`Mail ${count} to ${recipient} did not arrive within ${PATIENCE_MS} ms.`));
        }, PATIENCE_MS);
        waiting.add(check);
        check();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}

/** The digits in a code e-mail, as a reader finds them: in the text, on a line of their own. */
export function codeIn(mail: ReceivedMail): string {
  const code = /^\s*(\d{6})\s*$/m.exec(mail.parsed.text ?? '')?.[1];
  if (code === undefined) throw new Error(`There is no code in this mail:\n${mail.parsed.text}`);
  return code;
}

import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';

import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerDataStream } from 'smtp-server';

import { freePort } from '#testing/free-port.ts';

export type ReceivedMail = {
  readonly to: string;
  readonly from: string;
  readonly raw: string;
  readonly parsed: Email;
};

export type Inbox = {
  readonly url: string;
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  readonly recipientCommands: readonly string[];
  readonly mailsTo: (address: string) => ReceivedMail[];
  readonly waitForMail: (address: string, count?: number, patienceMs?: number) => Promise<ReceivedMail>;
  /** Replaces the behaviour for the following mails; {} accepts them all. */
  readonly behave: (next: Omit<InboxBehaviour, 'sevenBit'>) => void;
  readonly close: () => Promise<void>;
} & AsyncDisposable;

export type InboxBehaviour = {
  readonly onRecipient?: (address: string) => Error | null | Promise<Error | null>;
  /** "cut off" stores the message and drops the connection. */
  readonly onMessage?: () => Error | null | 'cut off' | Promise<Error | null | 'cut off'>;
  /** True for a mail server without 8BITMIME and SMTPUTF8. */
  readonly sevenBit?: boolean;
};

export const smtpError = (responseCode: number, words: string): Error =>
  Object.assign(new Error(words), { responseCode });

/** Refuses addresses that begin with "refused", and puts off those that begin with "deferred". */
export const refuseByName: InboxBehaviour = {
  onRecipient: (address) => {
    if (address.startsWith('refused')) return smtpError(550, `5.1.1 <${address}>: No such user here`);
    return address.startsWith('deferred') ? smtpError(451, 'Come back later') : null;
  },
};

type OpenConnection = { readonly session: { readonly id: string }; readonly _socket: Socket };

const PATIENCE_MS = 10_000;

export async function startInbox(
  { sevenBit = false, ...initialBehaviour }: InboxBehaviour = {},
  fixedPort?: number,
): Promise<Inbox> {
  let behaviour: Omit<InboxBehaviour, 'sevenBit'> = initialBehaviour;
  const mails: ReceivedMail[] = [];
  const recipientCommands: string[] = [];
  const byRecipient = new Map<string, ReceivedMail[]>();
  const arrivals = new EventEmitter().setMaxListeners(0);
  const mailsTo = (recipient: string) => byRecipient.get(recipient.toLowerCase()) ?? [];

  const receive = async (
    stream: SMTPServerDataStream,
    { from, to }: { from: string; to: string },
    cutOff: () => void,
  ) => {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(Buffer.from(chunk));
    const raw = Buffer.concat(chunks).toString('utf8');
    const refusal = (await behaviour.onMessage?.()) ?? null;
    if (refusal instanceof Error) throw refusal;
    const mail = { to, from, raw, parsed: await parse(raw) };
    mails.push(mail);
    byRecipient.set(to.toLowerCase(), [...mailsTo(to), mail]);
    if (refusal === 'cut off') cutOff();
    arrivals.emit(to.toLowerCase());
  };

  const cutOff = (sessionId: string) => {
    // The library's set of open connections, which its types omit.
    const { connections } = server as unknown as { connections: Set<OpenConnection> };
    for (const connection of connections) {
      if (connection.session.id === sessionId) connection._socket.destroy();
    }
  };
  const noop = () => {};
  const server = new SMTPServer({
    authOptional: true,
    logger: {
      trace: noop,
      info: noop,
      warn: noop,
      error: noop,
      fatal: noop,
      debug: (_entry, _format, line) => {
        if (typeof line === 'string' && line.startsWith('RCPT TO:')) recipientCommands.push(line);
      },
    },
    disabledCommands: ['STARTTLS'],
    ...(sevenBit && { hide8BITMIME: true, hideSMTPUTF8: true }),
    disableReverseLookup: true,
    // The sender keeps connections open; closing must not wait for them.
    closeTimeout: 1,
    onRcptTo: (address, _session, callback) => {
      void Promise.resolve(behaviour.onRecipient?.(address.address) ?? null).then(callback);
    },
    onData: (stream, session, callback) => {
      const { mailFrom, rcptTo } = session.envelope;
      const envelope = { from: mailFrom ? mailFrom.address : '', to: rcptTo[0]?.address ?? '' };
      receive(stream, envelope, () => cutOff(session.id)).then(
        () => callback(),
        (error: Error) => callback(error),
      );
    },
  });
  server.on('error', () => {});
  const port = fixedPort ?? (await freePort());
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
    });

  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    mails,
    recipientCommands,
    mailsTo,
    behave: (next) => {
      behaviour = next;
    },
    waitForMail: async (recipient, count = 1, patienceMs = PATIENCE_MS) => {
      const signal = AbortSignal.timeout(patienceMs);
      for (;;) {
        const newest = mailsTo(recipient)[count - 1];
        if (newest !== undefined) return newest;
        await once(arrivals, recipient.toLowerCase(), { signal }).catch((error: unknown) => {
          throw new Error(`Mail ${count} to ${recipient} did not arrive within ${patienceMs} ms.`, {
            cause: error,
          });
        });
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** @param behaviour awaits `done` wherever the inbox is to hang until the work is done */
export async function whileInboxHangs(
  inbox: Pick<Inbox, 'behave'>,
  behaviour: (done: Promise<null>) => InboxBehaviour,
  work: () => Promise<void>,
): Promise<void> {
  const { promise: done, resolve } = Promise.withResolvers<null>();
  inbox.behave(behaviour(done));
  await work().finally(() => resolve(null));
}

/** Keeps the line endings of base64 parts (RFC 2045 demands CRLF). */
async function parse(raw: string): Promise<Email> {
  const { text, html, ...mail } = await PostalMime.parse(raw);
  const lines = (part: string) => part.replaceAll('\r\n', '\n');
  return {
    ...mail,
    ...(text !== undefined && { text: lines(text) }),
    ...(html !== undefined && { html: lines(html) }),
  };
}

export function codeIn(mail: ReceivedMail): string {
  const code = /^\s*(\d{6})\s*$/m.exec(mail.parsed.text ?? '')?.[1];
  if (code === undefined) throw new Error(`This mail contains no code:\n${mail.parsed.text}`);
  return code;
}

// A mail server with the part of RFC 5321 that the mail library uses. Parsing whole messages, as the tests' inbox does, costs more
// than sending them.
import { createServer } from 'node:net';

import { listening, type Listening } from '#testing/listening.ts';

export type Sink = Listening & {
  readonly url: string;
  readonly codeFor: (email: string) => Promise<string>;
  readonly abandon: () => void;
};

const END_OF_MESSAGE = '\r\n.\r\n';

export async function startSink(): Promise<Sink> {
  const waiting = new Map<string, PromiseWithResolvers<string>>();
  const arrived = new Map<string, string>();

  const receive = (recipient: string, message: string): void => {
    // The desk's mail has its code only in the text.
    const code = (/^Subject: \D*(\d{6})/m.exec(message) ?? /^\s*(\d{6})\s*$/m.exec(message))?.[1];
    if (code === undefined) return;
    const visitor = waiting.get(recipient);
    waiting.delete(recipient);
    if (visitor) visitor.resolve(code);
    else arrived.set(recipient, code);
  };

  const server = createServer((socket) => {
    socket.setNoDelay(true).setEncoding('latin1');
    socket.write('220 sink ESMTP\r\n');
    let text = '';
    let recipient = '';
    let inMessage = false;
    socket.on('data', (chunk: string) => {
      text += chunk;
      for (;;) {
        const end = text.indexOf(inMessage ? END_OF_MESSAGE : '\r\n');
        if (end < 0) return;
        if (inMessage) {
          receive(recipient, text.slice(0, end));
          text = text.slice(end + END_OF_MESSAGE.length);
          inMessage = false;
          socket.write('250 OK\r\n');
          continue;
        }
        const line = text.slice(0, end);
        text = text.slice(end + 2);
        const verb = line.slice(0, 4).toUpperCase();
        if (verb === 'EHLO') socket.write('250-sink\r\n250-PIPELINING\r\n250 8BITMIME\r\n');
        else if (verb === 'RCPT') {
          recipient = /<([^>]*)>/.exec(line)?.[1] ?? '';
          socket.write('250 OK\r\n');
        } else if (verb === 'DATA') {
          inMessage = true;
          socket.write('354 Go on\r\n');
        } else if (verb === 'QUIT') socket.end('221 Bye\r\n');
        else socket.write('250 OK\r\n');
      }
    });
  });
  const smtp = await listening(server);
  return {
    ...smtp,
    url: `smtp://127.0.0.1:${smtp.port}`,
    codeFor: (email) => {
      const code = arrived.get(email);
      if (code !== undefined) {
        arrived.delete(email);
        return Promise.resolve(code);
      }
      const visitor = Promise.withResolvers<string>();
      waiting.set(email, visitor);
      return visitor.promise;
    },
    abandon: () => {
      for (const visitor of waiting.values()) visitor.reject(new Error('The mail did not arrive in time.'));
      waiting.clear();
    },
  };
}

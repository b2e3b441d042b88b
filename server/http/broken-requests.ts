// Answers bytes that Node cannot parse. Without a request object, no hook, log or route runs.
import type { Socket } from 'node:net';

import type { FastifyInstance } from 'fastify';

const TOO_MANY_COOKIES =
  'Your browser sent too many cookies for this page to open. Please clear the cookies of this site, or use a private window.';

export function answerBrokenRequest(
  this: FastifyInstance,
  error: Error & { code?: string },
  socket: Socket,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const broken = 'The request could not be read. Please check the program that sent it.';
  const [status, reason, sentence] =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? [408, 'Request Timeout', broken]
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? [431, 'Request Header Fields Too Large', TOO_MANY_COOKIES]
        : [400, 'Bad Request', broken];
  socket.write(
    `HTTP/1.1 ${status} ${reason}\r\ncontent-type: text/plain; charset=utf-8\r\nx-content-type-options: nosniff\r\n` +
      `content-length: ${Buffer.byteLength(sentence)}\r\nconnection: close\r\n\r\n${sentence}`,
  );
  // Not `end`: a peer that never closes its half would keep the socket open.
  socket.destroySoon();
}

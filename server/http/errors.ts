import type { Socket } from 'node:net';

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { Campaign } from '#server/campaign/campaign.ts';
import { isOutage } from '#server/db/engine/outages.ts';
import { API_ERRORS, type ApiErrorCode, ERROR_CODE_HEADER, ERROR_FIELD_HEADER } from '#shared/errors.ts';

export type ErrorWords = {
  readonly errors: Campaign['errors'];
  readonly site: Pick<Campaign['site'], 'language'>;
};

type ErrorDetails = {
  readonly sentence?: string;
  readonly field?: string;
  readonly retryAfterSeconds?: number;
  readonly newCodeInSeconds?: number;
};

export type SendError = (reply: FastifyReply, code: ApiErrorCode, details?: ErrorDetails) => FastifyReply;

const DEFAULT_WAIT_SECONDS = 60;

export function createSendError({ errors, site }: ErrorWords): SendError {
  const formatWait = createFormatWait(site.language);
  return (reply, code, { sentence = errors[code], field, retryAfterSeconds, newCodeInSeconds } = {}) => {
    if (field !== undefined) void reply.header(ERROR_FIELD_HEADER, field);
    if (retryAfterSeconds !== undefined) void reply.header('retry-after', String(retryAfterSeconds));
    const wait = newCodeInSeconds ?? retryAfterSeconds ?? DEFAULT_WAIT_SECONDS;
    return reply
      .code(API_ERRORS[code])
      .header(ERROR_CODE_HEADER, code)
      .header('cache-control', 'no-store')
      .type('text/plain; charset=utf-8')
      .send(sentence.replaceAll('{when}', () => formatWait(wait)));
  };
}

export function createFormatWait(language: string): (seconds: number) => string {
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  return (seconds) => {
    if (seconds < 90) return format.format(Math.max(0, seconds), 'second');
    if (seconds < 90 * 60) return format.format(Math.ceil(seconds / 60), 'minute');
    return format.format(Math.ceil(seconds / 3600), 'hour');
  };
}

const CODE_OF_STATUS: Readonly<Record<number, ApiErrorCode>> = {
  408: 'request-timeout',
  413: 'body-too-large',
  414: 'uri-too-long',
  415: 'unsupported-media-type',
};

const RETRY_AFTER_FAILURE_SECONDS = 30;

/** Logs the thrown error and never sends it. */
export function createHandleError(sendError: SendError) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const status = error.statusCode ?? 500;
    const clientError = CODE_OF_STATUS[status] ?? (status < 500 ? 'malformed-body' : undefined);
    if (clientError) {
      // Closing the connection while the body arrives could reset it, so a proxy that is still writing would miss the
      // response. Node discards the rest of the body.
      void reply.removeHeader('connection');
      return sendError(reply, clientError);
    }
    const code = isOutage(error) ? 'unavailable' : 'internal-error';
    request.log.error(
      { err: error },
      code === 'unavailable' ? 'The database is not available.' : 'A request failed.',
    );
    return sendError(reply, code, { retryAfterSeconds: RETRY_AFTER_FAILURE_SECONDS });
  };
}

const TOO_MANY_COOKIES =
  'Your browser sent too many cookies for this page to open. Please clear the cookies of this site, or use a private window.';

/**
 * Responds to requests that Node cannot parse. No hooks, logging or routes run for these requests, because they have no
 * request object.
 */
export function respondToBrokenRequest(
  this: FastifyInstance,
  error: Error & { code?: string },
  socket: Socket,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const unreadable = 'The request could not be read. Please check the program that sent it.';
  const [status, reason, sentence] =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? [408, 'Request Timeout', unreadable]
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? [431, 'Request Header Fields Too Large', TOO_MANY_COOKIES]
        : [400, 'Bad Request', unreadable];
  socket.write(
    `HTTP/1.1 ${status} ${reason}\r\ncontent-type: text/plain; charset=utf-8\r\nx-content-type-options: nosniff\r\n` +
      `content-length: ${Buffer.byteLength(sentence)}\r\nconnection: close\r\n\r\n${sentence}`,
  );
  // With `end`, a peer that never closes its side would keep the socket open.
  socket.destroySoon();
}

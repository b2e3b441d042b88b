// The one place where a failure becomes an answer: a status, one sentence as text/plain, and its code in a header.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

import { API_ERRORS, ERROR_CODE_HEADER, type ApiErrorCode } from '#shared/errors.ts';

/**
 * Answers with an error of the catalogue.
 * @param details a sentence to use instead of the catalogue's, for 429 and 503 the seconds to wait, and the seconds
 *   until a new code can be asked for where the sentence tells that instead
 */
export function sendError(
  reply: FastifyReply,
  code: ApiErrorCode,
  details: {
    readonly sentence?: string;
    readonly retryAfterSeconds?: number;
    readonly newCodeInSeconds?: number;
  } = {},
): FastifyReply {
  const { status, sentence } = API_ERRORS[code];
  const { retryAfterSeconds } = details;
  if (retryAfterSeconds !== undefined) void reply.header('retry-after', String(retryAfterSeconds));
  return reply
    .code(status)
    .header(ERROR_CODE_HEADER, code)
    .header('cache-control', 'no-store')
    .type('text/plain; charset=utf-8')
    .send(
      (details.sentence ?? sentence).replace(
        '{when}',
        waitInWords(details.newCodeInSeconds ?? retryAfterSeconds ?? 60),
      ),
    );
}

/**
 * How long to wait, in words a person uses: "now", "in 40 seconds", "in 12 minutes", "in 3 hours".
 * @param seconds whole seconds
 */
export function waitInWords(seconds: number): string {
  if (seconds <= 0) return 'now';
  const [amount, unit] =
    seconds < 90
      ? [seconds, 'second']
      : seconds < 90 * 60
        ? [Math.ceil(seconds / 60), 'minute']
        : [Math.ceil(seconds / 3600), 'hour'];
  return `in ${amount} ${unit}${amount === 1 ? '' : 's'}`;
}

/** Fastify's own refusals, by what they mean to the caller. */
const BY_STATUS: Readonly<Record<number, ApiErrorCode>> = {
  400: 'malformed-body',
  408: 'request-timeout',
  413: 'body-too-large',
  414: 'uri-too-long',
  415: 'unsupported-media-type',
};

/** How long a visitor is asked to wait when we are the ones who failed. */
const RETRY_AFTER_FAILURE_SECONDS = 30;

/** Turns what was thrown into an answer. What the database or the code said is logged, never sent. */
export function handleError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const status = error.statusCode ?? 500;
  const known = BY_STATUS[status] ?? (status < 500 ? 'malformed-body' : undefined);
  if (known) return sendError(reply, known);
  const code = isOutage(error) ? 'unavailable' : 'internal-error';
  request.log.error(
    { err: error },
    code === 'unavailable' ? 'The database is not available.' : 'A request failed.',
  );
  return sendError(reply, code, { retryAfterSeconds: RETRY_AFTER_FAILURE_SECONDS });
}

// PostgreSQL's classes for "not now" (57P0x: shutting down or starting, 53xxx: no room, 08xxx: connection lost,
// 55P03 and 57014: a wait was cut short), the ways a socket fails, and SQLite's busy, full, read-only and I/O errors.
const POSTGRES_OUTAGE = /^(57P0\d|53\d{3}|08\d{3}|55P03|57014|25006)$/;
const SOCKET_OUTAGE = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)$/;
const CONNECTION_OUTAGE =
  /connection (terminated|timeout)|timeout exceeded when trying to connect|client has encountered a connection error/i;
const SQLITE_OUTAGE = new Set([5, 6, 8, 10, 13, 14]);

/** Whether the database could not be used just now, as opposed to used wrongly. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError && error.errors.some(isOutage)) return true;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (POSTGRES_OUTAGE.test(code) || SOCKET_OUTAGE.test(code) || CONNECTION_OUTAGE.test(error.message))
    return true;
  // node:sqlite puts SQLite's extended result code into errcode; its low byte is the primary one.
  return 'errcode' in error && typeof error.errcode === 'number' && SQLITE_OUTAGE.has(error.errcode & 0xff);
}

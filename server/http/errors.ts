// The one place where a failure becomes an answer: a status, one sentence as text/plain, and its code in a header.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

import { isOutage } from '#server/db/outages.ts';
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

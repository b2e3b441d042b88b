// The one place where a failure becomes an answer: a status, one sentence as text/plain, and its code in a header.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

import type { Campaign } from '#server/campaign/campaign.ts';
import { isOutage } from '#server/db/engine/outages.ts';
import { API_ERRORS, ERROR_CODE_HEADER, type ApiErrorCode } from '#shared/errors.ts';

/** The words of the answers: the sentences, and the language that a wait is written in. */
export type ErrorWords = {
  readonly errors: Campaign['errors'];
  readonly site: Pick<Campaign['site'], 'language'>;
};

type ErrorDetails = {
  /** Replaces the operator's sentence: for monitors, or with its placeholders filled in. */
  readonly sentence?: string;
  /** For 429 and 503. */
  readonly retryAfterSeconds?: number;
  /** When a new code can be asked for, if the sentence names that wait. */
  readonly newCodeInSeconds?: number;
};

/** Answers with an error: its status, its sentence and its code. */
export type SendError = (reply: FastifyReply, code: ApiErrorCode, details?: ErrorDetails) => FastifyReply;

/** The wait in a sentence when the caller gives none. */
const USUAL_WAIT_SECONDS = 60;

/** Makes the function that answers every error, in the words of a campaign. */
export function createSendError({ errors, site }: ErrorWords): SendError {
  const waitInWords = createWaitInWords(site.language);
  return (reply, code, { sentence = errors[code], retryAfterSeconds, newCodeInSeconds } = {}) => {
    if (retryAfterSeconds !== undefined) void reply.header('retry-after', String(retryAfterSeconds));
    const wait = newCodeInSeconds ?? retryAfterSeconds ?? USUAL_WAIT_SECONDS;
    return reply
      .code(API_ERRORS[code])
      .header(ERROR_CODE_HEADER, code)
      .header('cache-control', 'no-store')
      .type('text/plain; charset=utf-8')
      .send(sentence.replaceAll('{when}', () => waitInWords(wait)));
  };
}

/**
 * How long to wait, in words a person uses: "now", "in 40 seconds", "in 12 minutes", "in 3 hours".
 * @param language as in site.yaml
 * @returns for whole seconds
 */
export function createWaitInWords(language: string): (seconds: number) => string {
  const words = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  return (seconds) => {
    if (seconds < 90) return words.format(Math.max(0, seconds), 'second');
    if (seconds < 90 * 60) return words.format(Math.ceil(seconds / 60), 'minute');
    return words.format(Math.ceil(seconds / 3600), 'hour');
  };
}

/** Our error codes for Fastify's own refusals, by status. */
const BY_STATUS: Readonly<Record<number, ApiErrorCode>> = {
  400: 'malformed-body',
  408: 'request-timeout',
  413: 'body-too-large',
  414: 'uri-too-long',
  415: 'unsupported-media-type',
};

/** The wait that a visitor is asked for after a failure of ours. */
const RETRY_AFTER_FAILURE_SECONDS = 30;

/**
 * Makes the function that turns a thrown error into an answer. The error itself is logged, never sent.
 * @returns for Fastify's error handlers
 */
export function createHandleError(sendError: SendError) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const status = error.statusCode ?? 500;
    const known = BY_STATUS[status] ?? (status < 500 ? 'malformed-body' : undefined);
    if (known) {
      // Fastify would close the connection on what is left of the body. That resets it, and a client that is still writing, such as a
      // proxy, may never see the answer. On a connection that stays, Node reads what is left and throws it away, for as long as a request
      // may take.
      void reply.removeHeader('connection');
      return sendError(reply, known);
    }
    const code = isOutage(error) ? 'unavailable' : 'internal-error';
    request.log.error(
      { err: error },
      code === 'unavailable' ? 'The database is not available.' : 'A request failed.',
    );
    return sendError(reply, code, { retryAfterSeconds: RETRY_AFTER_FAILURE_SECONDS });
  };
}

// Fastify with this server's limits, timeouts, request ids, log and error handling; it has no route yet.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';

import { answerBrokenRequest } from '#server/http/broken-requests.ts';
import { createHandleError, type SendError } from '#server/http/errors.ts';
import { createRequestLogs, type RequestLogParts } from '#server/http/request-log.ts';
import { API } from '#shared/api.ts';

/** The largest body a form can honestly need: three fields and a consent, of at most a few hundred characters. */
const BODY_LIMIT_BYTES = 16 * 1024;
/** A browser sends the cookies of the whole domain, which the main site may have filled; Node's own limit is 16 kB. */
const HEADERS_LIMIT_BYTES = 32 * 1024;
/** A request that has not arrived in full by then is a slow attacker or a lost connection. */
const REQUEST_TIMEOUT_MS = 15_000;
/** A connection without traffic in either direction for this long is ended: its reader went away, or pretends to read. */
const CONNECTION_TIMEOUT_MS = 60_000;
/** How often Node looks for requests that take too long; its own 30 s would make the limit above mean half a minute more. */
const LOOK_FOR_SLOW_REQUESTS_MS = 2_000;
/** Longer than the idle timeout of common proxies, so that they close first and never meet a closed socket. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

/** What an address becomes that leads nowhere: one that no route and no file has. */
const NOWHERE = '/nowhere';

/** Monitors and balancers ask the port itself, and need not know the path. */
const isProbe = (url: string): boolean =>
  [API.live, API.health].some((probe) => url.split('?', 1)[0] === probe);

/** The address as routes know it; null when it is not under the path. @param path of PUBLIC_URL */
export function withoutPath(url: string, path: string): string | null {
  if (path === '') return url;
  return url.startsWith(`${path}/`) ? url.slice(path.length) : null;
}

/** Takes the path away before routing: routes, log and metrics know nothing of it. */
const rewriteUrlOf =
  (path: string) =>
  ({ url: asked = '' }: IncomingMessage): string => {
    const url = withoutPath(asked, path) ?? (isProbe(asked) ? asked : NOWHERE);
    if (isDecodable(url)) return url;
    return isOfApi(url) ? `/api${NOWHERE}` : NOWHERE;
  };

/** Fastify's router answers any other address by itself, without our headers. */
function isDecodable(url: string): boolean {
  const [address = ''] = url.split('?', 1);
  try {
    return !address.includes('%') || decodeURI(address) !== '';
  } catch {
    return false;
  }
}

/** Whether an address belongs to the API, whose answers are no pages. */
export const isOfApi = (url: string): boolean => /^\/api(?:[/?]|$)/.test(url);

function noSchemas(): never {
  throw new Error('A route has a JSON schema: see schemaController in server/http/create-fastify.ts.');
}

export function createFastify({
  sendError,
  basePath,
  ...forLogs
}: RequestLogParts & {
  readonly sendError: SendError;
  /** The path of PUBLIC_URL. */
  readonly basePath: string;
}): FastifyInstance {
  const logger: FastifyBaseLogger = forLogs.logger;
  const handleError = createHandleError(sendError);
  const requestLogs = createRequestLogs(forLogs);
  const app = Fastify({
    loggerInstance: logger,
    childLoggerFactory: requestLogs.childLoggerFactory,
    // Fastify's own lines carry addresses and full URLs; ours (answered-requests.ts) carry neither.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    http: {
      maxHeaderSize: HEADERS_LIMIT_BYTES,
      // Refused with a sentence (host.ts).
      requireHostHeader: false,
      // Node takes the larger of the two for the whole request, whatever their names say, and its default here is 60 s.
      headersTimeout: REQUEST_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: LOOK_FOR_SLOW_REQUESTS_MS,
    },
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // A stop ends idle connections at once; those with a request in hand finish it, and are answered, not refused.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // Our own: a stranger's could be written into the log to mislead.
    requestIdHeader: false,
    genReqId: () => randomUUID(),
    exposeHeadRoutes: true,
    // zod reads every body. Fastify's own compilers, which no route asks for, would take 2 MiB.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    rewriteUrl: rewriteUrlOf(basePath),
    frameworkErrors: (error, request, reply) => {
      void handleError(error, request, reply);
    },
    clientErrorHandler: answerBrokenRequest,
  });
  app.addHook('onClose', async () => requestLogs.close());
  app.setErrorHandler(handleError);
  // JSON is all we read; a text/plain body (Fastify's other default) is what a cross-site form could send.
  app.removeContentTypeParser('text/plain');
  return app;
}

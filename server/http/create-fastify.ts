import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';

import { respondToBrokenRequest, createHandleError, type SendError } from '#server/http/errors.ts';
import { createRequestLogs, type RequestLogParts } from '#server/http/request-log.ts';
import { API } from '#shared/api.ts';
import { orNull } from '#shared/or-null.ts';

const BODY_LIMIT_BYTES = 16 * 1024;
/** All cookies of a domain together can exceed Node's default of 16 kB. */
const HEADERS_LIMIT_BYTES = 32 * 1024;
/** A slower request comes from an attack or a lost connection. */
const REQUEST_TIMEOUT_MS = 15_000;
const CONNECTION_TIMEOUT_MS = 60_000;
const SLOW_REQUEST_CHECK_INTERVAL_MS = 2_000;
/** Longer than the idle timeout of common proxies, so the proxy closes first and never writes to a closed socket. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

export function createFastify(
  parts: RequestLogParts & {
    readonly sendError: SendError;
    readonly basePath: string;
  },
): FastifyInstance {
  const { sendError, basePath, ...logParts } = parts;
  const logger: FastifyBaseLogger = logParts.logger;
  const handleError = createHandleError(sendError);
  const requestLogs = createRequestLogs(logParts);
  const app = Fastify({
    loggerInstance: logger,
    childLoggerFactory: requestLogs.childLoggerFactory,
    // Fastify's own log lines contain IP addresses and full URLs.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    http: {
      maxHeaderSize: HEADERS_LIMIT_BYTES,
      // Node would refuse a request without Host itself, with neither our headers nor our log.
      requireHostHeader: false,
      // Node applies the larger of the two timeouts to the whole request, and headersTimeout defaults to 60 s.
      headersTimeout: REQUEST_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: SLOW_REQUEST_CHECK_INTERVAL_MS,
    },
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // While the server stops, requests on open connections still get a response.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // A client's ID could mislead readers of the log.
    requestIdHeader: false,
    genReqId: () => randomUUID(),
    exposeHeadRoutes: true,
    // zod validates every body, and Fastify's compilers would use 2 MiB of memory.
    schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
    rewriteUrl: rewriteUrlOf(basePath),
    frameworkErrors: (error, request, reply) => {
      void handleError(error, request, reply);
    },
    clientErrorHandler: respondToBrokenRequest,
  });
  app.addHook('onClose', async () => requestLogs.close());
  app.setErrorHandler(handleError);
  // A cross-site form can send text/plain, which Fastify accepts by default.
  app.removeContentTypeParser('text/plain');
  return app;
}

function refuseSchema(): never {
  throw new Error(
    'A route has a JSON schema, which is not supported. See schemaController in server/http/create-fastify.ts.',
  );
}

/** Has no route, so the site's 404 page is sent. */
const NOWHERE = '/nowhere';

const rewriteUrlOf =
  (path: string) =>
  ({ url: rawUrl = '' }: IncomingMessage): string => {
    // Clients of a proxy send the whole URL (RFC 9112, section 3.2.2).
    const requested = rawUrl.replace(/^https?:\/\/[^/?]*\/?/i, '/');
    const url = withoutBasePath(requested, path) ?? (isProbe(requested) ? requested : NOWHERE);
    if (isDecodable(url)) return url;
    // The API's 404 response is plain text.
    return isApiUrl(url) ? `/api${NOWHERE}` : NOWHERE;
  };

/** @returns null outside the site's path. http.ts redirects the path without its slash */
export function withoutBasePath(url: string, path: string): string | null {
  if (path === '') return url;
  return url.startsWith(`${path}/`) ? url.slice(path.length) : null;
}

/** Monitors and load balancers can request probes on the port directly, without knowing the site's path. */
const isProbe = (url: string): boolean =>
  [API.live, API.health].some((probe) => url.split('?', 1)[0] === probe);

/** Fastify's router responds to undecodable URLs without our headers. */
function isDecodable(url: string): boolean {
  const [pathname = ''] = url.split('?', 1);
  return !pathname.includes('%') || orNull(() => decodeURI(pathname)) !== null;
}

export const isApiUrl = (url: string): boolean => /^\/api(?:[/?]|$)/.test(url);

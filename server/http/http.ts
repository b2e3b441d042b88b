import fastifyCookie from '@fastify/cookie';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';

import type { Campaign } from '#server/campaign/campaign.ts';
import { observeRequests, type CompletedRequest } from '#server/http/request-log.ts';
import { limitConnections, type ConnectionLimits } from '#server/http/connections.ts';
import { createCookies, type Cookies } from '#server/http/cookies.ts';
import { createFastify, isApiUrl, withoutBasePath } from '#server/http/create-fastify.ts';
import { createSendError, type SendError } from '#server/http/errors.ts';
import { addHealthRoute, addLiveRoute, type HealthParts } from '#server/http/health.ts';
import {
  createIsAlias,
  HOST_SENTENCE,
  namesOneHost,
  refuseOtherOrigins,
  type UrlSetting,
} from '#server/http/host-and-origin.ts';
import { createLetterPage, type LetterPage } from '#server/http/letter-page.ts';
import { addLoadShedding, type LoadLimits } from '#server/http/load-shedding.ts';
import type { Release } from '#server/http/releases.ts';
import { addSecurityHeaders } from '#server/http/security-headers.ts';
import { createSiteHandler, type SiteHandler } from '#server/http/static-files.ts';
import {
  createIsProxy,
  createVisitorAddress,
  type VisitorAddress,
  warnOfForgottenProxy,
} from '#server/http/visitor-address.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';
import { API } from '#shared/api.ts';

const URL_MAX_LENGTH = 2_048;

export type HttpService = {
  readonly config: Config;
  readonly campaign: Campaign;
  readonly secrets: Secrets;
  readonly database: HealthParts['database'];
  readonly funnel: { readonly pageSeen: (request: IncomingMessage) => void };
  readonly metrics: {
    readonly requestCompleted: (request: CompletedRequest) => void;
    readonly connectionsOpen: (count: number) => void;
    readonly connectionRefused: (reason: string) => void;
  };
  readonly clock: () => number;
  readonly logger: Logger;
};

export type HttpOptions = {
  readonly release: Release | null;
  readonly urlSetting?: UrlSetting | null;
  readonly isStopping: () => boolean;
  readonly loadLimits?: LoadLimits;
  readonly connectionLimits?: ConnectionLimits;
};

export type Http = {
  readonly app: FastifyInstance;
  readonly cookies: Cookies;
  readonly visitorAddress: VisitorAddress;
  readonly letterPage: LetterPage;
  readonly sendError: SendError;
  /**
   * Call this after adding all routes. Adds health, the site, and the 404 and 405 responses.
   * @param otherUrls paths of routes that shared/api.ts does not list
   */
  readonly complete: (otherUrls: readonly string[]) => void;
  /** Call this instead for the desk, which serves its own files and has no health route. */
  readonly completeWithoutPage: (urls: readonly string[]) => void;
};

export async function createHttp(service: HttpService, options: HttpOptions): Promise<Http> {
  const { config, campaign, secrets, funnel, metrics, clock, logger } = service;
  const { release, isStopping, urlSetting = 'PUBLIC_URL' } = options;
  const { basePath } = config;
  const isProxy = createIsProxy(config.trustProxy);
  const visitorAddress = createVisitorAddress(isProxy);
  const sendError = createSendError(campaign);
  const app = createFastify({ logger, visitorAddress, clock, sendError, basePath });

  addSecurityHeaders(app, config.secure);
  let site: SiteHandler | null = null;
  const fileAt = (url: string): string | null => site?.routeOf(url) ?? null;
  observeRequests(app, { onCompleted: metrics.requestCompleted, onPageSeen: funnel.pageSeen, fileAt });
  app.addHook('onSend', (request, reply, _payload, done) => {
    reply.header('x-request-id', request.id);
    // Makes a client with an open connection send its next request to another process.
    if (isStopping()) reply.header('connection', 'close');
    done();
  });
  await addLoadShedding(app, sendError, options.loadLimits);
  warnOfForgottenProxy(app, config.trustProxy, logger);
  refuseInvalidRequests(app, sendError);
  refuseOtherOrigins(app, { publicUrl: config.publicUrl, urlSetting }, sendError);
  await app.register(fastifyCookie);
  addLiveRoute(app);
  limitConnections(app.server, { limits: options.connectionLimits, isProxy, metrics, logger });

  return {
    app,
    cookies: createCookies(secrets, config),
    visitorAddress,
    letterPage: createLetterPage(campaign.site, config.secure, basePath),
    sendError,
    complete: (otherUrls) => {
      const isAlias = createIsAlias(config.publicUrl);
      addHealthRoute(app, { ...service, sendError, isStopping });
      refuseOtherMethods(app, sendError, [...Object.values(API), ...otherUrls]);
      if (release !== null)
        site = createSiteHandler({
          ...config,
          release,
          words: campaign.site,
          variants: campaign.variants.map(({ name }) => name),
          sendError,
        });
      const warnIfStripped = createStrippedPathWarning(basePath, fileAt);
      app.setNotFoundHandler((request, reply) => {
        const home = homeRedirect(request, basePath);
        if (home !== null) return reply.redirect(home, 308);
        const isRead = request.method === 'GET' || request.method === 'HEAD';
        if (isRead && site?.routeOf(request.url) === '/' && isAlias(request.raw))
          // The redirect isn't cached, because PUBLIC_URL may change to the requested name.
          return reply.header('cache-control', 'no-store').redirect(config.publicUrl + request.url, 308);
        warnIfStripped(request);
        return site === null || isApiUrl(request.url)
          ? sendError(reply, 'not-found')
          : site.respond(request, reply);
      });
    },
    completeWithoutPage: (urls) => {
      refuseOtherMethods(app, sendError, urls);
      app.setNotFoundHandler((_request, reply) => sendError(reply, 'not-found'));
    },
  };
}

function refuseInvalidRequests(app: FastifyInstance, sendError: SendError): void {
  app.addHook('onRequest', async (request, reply) => {
    if (!namesOneHost(request.raw)) return sendError(reply, 'malformed-body', { sentence: HOST_SENTENCE });
    if (request.url.length > URL_MAX_LENGTH) return sendError(reply, 'uri-too-long');
  });
}

/** Returns the redirect target for the site's path without its final slash. */
function homeRedirect({ method, originalUrl }: FastifyRequest, path: string): string | null {
  if (path === '' || (method !== 'GET' && method !== 'HEAD')) return null;
  return originalUrl === path || originalUrl.startsWith(`${path}?`)
    ? `${path}/${originalUrl.slice(path.length)}`
    : null;
}

/** Warns once if a proxy strips the path, because every request would get 404. */
function createStrippedPathWarning(
  path: string,
  fileAt: (url: string) => string | null,
): (request: FastifyRequest) => void {
  let warned = false;
  return ({ originalUrl, log }) => {
    const [pathname = ''] = originalUrl.split('?', 1);
    if (warned || withoutBasePath(originalUrl, path) !== null) return;
    if (!pathname.startsWith('/api/') && fileAt(pathname) === null) return;
    warned = true;
    log.warn(
      `A request without ${path}, the path of PUBLIC_URL, got status 404. Make the proxy forward the full path: in nginx, ` +
        'use proxy_pass without a path after the port, and in Caddy, use handle instead of handle_path.',
    );
  };
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Responds with 405 and the allowed methods (RFC 9110, section 15.5.6). Call this after adding all routes. */
function refuseOtherMethods(app: FastifyInstance, sendError: SendError, urls: readonly string[]): void {
  for (const url of urls) {
    const allowed = METHODS.filter((method) => app.hasRoute({ method, url }));
    app.route({
      method: METHODS.filter((method) => !allowed.includes(method)),
      url,
      onRequest: async (_request, reply) =>
        sendError(reply.header('allow', allowed.join(', ')), 'method-not-allowed'),
      handler: async (_request, reply) => sendError(reply, 'method-not-allowed'),
    });
  }
}

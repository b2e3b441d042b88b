// The HTTP application as a plain function of the service (server/run/service.ts). It listens nowhere: main.ts does, and tests do.
import { randomUUID } from 'node:crypto';

import fastifyCookie from '@fastify/cookie';
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';

import { createCookies } from '#server/http/cookies.ts';
import { addGuideLinkRoute, createGuideLinkEndedPage } from '#server/visitors/article/guide-link.ts';
import { addArticleRoutes } from '#server/visitors/article/routes.ts';
import { addFunnelRoute } from '#server/visitors/funnel/routes.ts';
import { answerBeforeFastify } from '#server/http/before-fastify.ts';
import { answerBrokenRequest } from '#server/http/broken-requests.ts';
import { boundConnections, type ConnectionLimits } from '#server/http/connections.ts';
import { createHandleError, createSendError } from '#server/http/errors.ts';
import { addHeaders, type HeaderList } from '#server/http/header-list.ts';
import { addHealthRoute, addLiveRoute } from '#server/http/health.ts';
import { HOST_SENTENCE, namesItsHost } from '#server/http/host.ts';
import { refuseOtherMethods } from '#server/http/other-methods.ts';
import { refuseOtherOrigins } from '#server/http/same-origin.ts';
import { addSecurityHeaders } from '#server/http/security-headers.ts';
import { createLetterPage } from '#server/http/letter-page.ts';
import type { Release } from '#server/http/releases.ts';
import {
  createForgottenProxyWarning,
  createIsProxy,
  createVisitorAddress,
} from '#server/http/visitor-address.ts';
import { serveSite } from '#server/http/static-files.ts';
import { createRequestLogs } from '#server/http/request-log.ts';
import { addLoadShedding, type LoadLimits } from '#server/http/load-shedding.ts';
import { addLeadRoutes } from '#server/visitors/leads/routes.ts';
import { senderAddress } from '#server/mail/mailer.ts';
import { addMailEventRoutes } from '#server/mail-events/routes.ts';
import { createMailBacklog } from '#server/mail/outbox/backlog.ts';
import { createProofOfWork } from '#server/limits/proof-of-work.ts';
import type { Service } from '#server/run/service.ts';
import { createUnsubscribePages } from '#server/visitors/unsubscribe/page.ts';
import { addUnsubscribeRoutes } from '#server/visitors/unsubscribe/routes.ts';
import { complaintsTo } from '#server/visitors/unsubscribe/withdraw.ts';
import { API } from '#shared/api.ts';

/** What the application takes from the service. */
export type AppService = Pick<
  Service,
  | 'config'
  | 'campaign'
  | 'database'
  | 'secrets'
  | 'limits'
  | 'breaker'
  | 'funnel'
  | 'metrics'
  | 'clock'
  | 'logger'
  | 'wakeWorker'
  | 'reserveDelivery'
  | 'webhooks'
>;

/** What concerns HTTP alone. */
export type AppOptions = {
  /** The built site; null serves the API alone. */
  readonly release: Release | null;
  /** True once the process has been told to stop. */
  readonly isStopping: () => boolean;
  /** True once another process serves in the place of this one, at the same address: nobody is to be sent elsewhere. */
  readonly isReplaced?: () => boolean;
  /** Where load shedding begins, if not where it usually does. */
  readonly loadLimits?: LoadLimits;
  /** How many connections there may be, if not as many as usual. */
  readonly connectionLimits?: ConnectionLimits;
  /** How to ask other hosts, if not as usual: only that of Amazon SNS is asked, and only where it was set. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
};

/** The largest body a form can honestly need: three fields and a consent, of at most a few hundred characters. */
const BODY_LIMIT_BYTES = 16 * 1024;
/** A request that has not arrived in full by then is a slow attacker or a lost connection. */
const REQUEST_TIMEOUT_MS = 15_000;
/** A connection on which nothing moves for this long, in either direction, is ended: a reader that went away, or pretends. */
const CONNECTION_TIMEOUT_MS = 60_000;
/** How often Node looks for requests that take too long; its own 30 s would make the limit above mean half a minute more. */
const LOOK_FOR_SLOW_REQUESTS_MS = 2_000;
/** Longer than the idle timeout of common proxies, so that they close first and never meet a closed socket. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const URL_MAX_LENGTH = 2_048;

function noSchemas(): never {
  throw new Error('A route has a JSON schema: see schemaController in server/run/app.ts.');
}

/** Whether somebody was given the page. */
const isPageSeen = (method: string | undefined, route: string, status: number): boolean =>
  route === '/' && method === 'GET' && (status === 200 || status === 304);

/**
 * Whether an answer has a line in the log. A page and its files that were sent are counted: a line for each of thousands would hide
 * those that say something. Nor has what anybody may tell at any time, or a monitor that is told that all is well.
 */
function isLogged(route: string, status: number): boolean {
  if (route === API.funnel) return status >= 500;
  return status >= 400 || (route.startsWith('/api/') && route !== API.live && route !== API.health);
}

/** Builds the application; the caller listens or injects. */
export async function buildApp(service: AppService, options: AppOptions): Promise<FastifyInstance> {
  const { config, campaign, database, secrets, limits, breaker, funnel, metrics, clock } = service;
  const { wakeWorker, reserveDelivery, webhooks } = service;
  const { release, isStopping, isReplaced = () => false } = options;
  const logger: FastifyBaseLogger = service.logger;
  const isProxy = createIsProxy(config.trustProxy);
  const sendError = createSendError(campaign);
  const handleError = createHandleError(sendError);
  const visitorAddress = createVisitorAddress(isProxy);
  const requestLogs = createRequestLogs({ logger: service.logger, visitorAddress, clock });
  const app = Fastify({
    loggerInstance: logger,
    childLoggerFactory: requestLogs.childLoggerFactory,
    // Fastify's own lines carry addresses and full URLs; ours (below) carry neither.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    http: {
      // Refused with a sentence (http/host.ts).
      requireHostHeader: false,
      // Node takes the larger of the two for the whole request, whatever they are called, and its default here is 60 s.
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
    // Messages are read by zod. Fastify's own compilers, which no route asks for, would be loaded and kept.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    frameworkErrors: (error, request, reply) => {
      void handleError(error, request, reply);
    },
    clientErrorHandler: answerBrokenRequest,
  });

  app.addHook('onClose', async () => requestLogs.close());
  app.setErrorHandler(handleError);
  addSecurityHeaders(app, config.secure);
  app.addHook('onResponse', (request, reply, done) => {
    // The route's pattern, never the address a stranger made up.
    const route = request.routeOptions.url ?? 'unknown';
    const { method } = request;
    const status = reply.statusCode;
    if (isLogged(route, status))
      request.log.info({ method, route, status, ms: Math.round(reply.elapsedTime) });
    metrics.requestAnswered({ method, route, status, ms: reply.elapsedTime });
    if (isPageSeen(method, route, status)) funnel.pageSeen(request.raw);
    done();
  });
  const ownHeaders = (id: string): HeaderList =>
    // A connection that is kept alive learns this way that its next request has to go elsewhere.
    isStopping() ? ['x-request-id', id, 'connection', 'close'] : ['x-request-id', id];
  app.addHook('onSend', (request, reply, _payload, done) => {
    addHeaders(reply, ownHeaders(request.id));
    done();
  });
  await addLoadShedding(app, sendError, options.loadLimits);
  const noteForgottenProxy = createForgottenProxyWarning(config.trustProxy, logger);
  app.addHook('onRequest', (request, _reply, done) => {
    noteForgottenProxy(request.headers);
    done();
  });
  app.addHook('onRequest', async (request, reply) => {
    if (!namesItsHost(request.raw)) return sendError(reply, 'malformed-body', { sentence: HOST_SENTENCE });
    if (request.url.length > URL_MAX_LENGTH) return sendError(reply, 'uri-too-long');
  });
  refuseOtherOrigins(app, config.publicUrl, sendError);

  await app.register(fastifyCookie);
  // JSON is all we read; a text/plain body (Fastify's other default) is what a cross-site form could send.
  app.removeContentTypeParser('text/plain');

  const cookies = createCookies(secrets, config.secure);
  const mailBacklog = createMailBacklog(config.codeTtlSeconds);
  addLeadRoutes(app, {
    database,
    secrets,
    limits,
    breaker,
    metrics,
    clock,
    webhooks,
    wakeWorker,
    reserveDelivery,
    sendError,
    inputWords: campaign.interface,
    mailBacklog,
    cookies,
    codeTtlSeconds: config.codeTtlSeconds,
    resendSeconds: config.resendSeconds,
    sender: senderAddress(config),
    consentVersion: campaign.consent.version,
    visitorAddress,
    policies: config,
    freeMailDomains: campaign.freeMailDomains,
    article: campaign.article,
    mailsGuide: config.guideEmail !== 'off',
    newLeadsTo: config.newLeadEmail === 'each' ? config.operatorEmail : null,
    proofOfWork: createProofOfWork({ db: database.db, secrets, clock }),
  });
  addArticleRoutes(app, { database, webhooks, cookies, clock, article: campaign.article, sendError });
  const letterPage = createLetterPage(campaign.site, config.secure);
  addGuideLinkRoute(app, {
    database,
    secrets,
    cookies,
    clock,
    ended: createGuideLinkEndedPage(letterPage, campaign.interface.guideLink, campaign.site.title),
  });
  await addUnsubscribeRoutes(app, {
    database,
    secrets,
    webhooks,
    clock,
    visitorAddress,
    pages: createUnsubscribePages(letterPage, campaign.interface.unsubscribe, campaign.site.title),
    sendError,
  });
  const mailEventUrls = await addMailEventRoutes(app, {
    database,
    secrets,
    clock,
    config: config.mailEvents,
    complaints: complaintsTo({ database, secrets, webhooks }),
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    sendError,
  });
  addFunnelRoute(app, { funnel, visitorAddress, clock, metrics, sendError });
  addLiveRoute(app);
  addHealthRoute(app, {
    database,
    mailBacklog,
    clock,
    isLeaving: () => isStopping() && !isReplaced(),
    sendError,
  });
  refuseOtherMethods(app, sendError, mailEventUrls);

  const site =
    release === null
      ? null
      : serveSite(app, { release, publicUrl: config.publicUrl, secure: config.secure, sendError });
  app.setNotFoundHandler((request, reply) =>
    site === null || request.url.startsWith('/api/')
      ? sendError(reply, 'not-found')
      : site.answerUnknown(request, reply),
  );
  if (site !== null)
    answerBeforeFastify(app, {
      resources: site.resources,
      urlMaxLength: URL_MAX_LENGTH,
      ownHeaders: () => ownHeaders(randomUUID()),
      onRequest: noteForgottenProxy,
      onAnswer: (request, route, status) => {
        if (isPageSeen(request.method, route, status)) funnel.pageSeen(request);
      },
      metrics,
    });
  boundConnections(app.server, { limits: options.connectionLimits, isProxy, metrics, logger });
  return app;
}

// The HTTP application as a plain function of the service (service.ts). It does not listen: main.ts does, and tests do.
import fastifyCookie from '@fastify/cookie';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

import { noteAnswers } from '#server/http/answered-requests.ts';
import { boundConnections, type ConnectionLimits } from '#server/http/connections.ts';
import { createCookies } from '#server/http/cookies.ts';
import { createFastify } from '#server/http/create-fastify.ts';
import { createSendError, type SendError } from '#server/http/errors.ts';
import { addHeaders, type HeaderList } from '#server/http/header-list.ts';
import { addHealthRoute, addLiveRoute } from '#server/http/health.ts';
import { HOST_SENTENCE, namesItsHost } from '#server/http/host.ts';
import { createLetterPage } from '#server/http/letter-page.ts';
import { addLoadShedding, type LoadLimits } from '#server/http/load-shedding.ts';
import { refuseOtherMethods } from '#server/http/other-methods.ts';
import type { Release } from '#server/http/releases.ts';
import { refuseOtherOrigins } from '#server/http/same-origin.ts';
import { addSecurityHeaders } from '#server/http/security-headers.ts';
import { addSiteFastPath } from '#server/http/site-fast-path.ts';
import { serveSite } from '#server/http/static-files.ts';
import {
  createForgottenProxyWarning,
  createIsProxy,
  createVisitorAddress,
} from '#server/http/visitor-address.ts';
import { addMailEventRoutes } from '#server/mail-events/routes.ts';
import { createMailBacklog } from '#server/mail/outbox/backlog.ts';
import { addGuideLinkRoute } from '#server/visitors/article/guide-link.ts';
import { addArticleRoutes } from '#server/visitors/article/routes.ts';
import { addFunnelRoute } from '#server/visitors/funnel/routes.ts';
import { addLeadRoutes } from '#server/visitors/leads/routes.ts';
import { addUnsubscribeRoutes } from '#server/visitors/unsubscribe/routes.ts';
import { complaintsTo } from '#server/visitors/unsubscribe/withdraw.ts';
import type { VisitorContext, VisitorService } from '#server/visitors/visitor-context.ts';

/** What concerns HTTP alone. */
export type AppOptions = {
  /** The built site; null serves the API alone. */
  readonly release: Release | null;
  /** True once the process was asked to stop. */
  readonly isStopping: () => boolean;
  /** True once another process serves at this address: no visitor needs to be sent elsewhere. */
  readonly isReplaced?: () => boolean;
  /** For tests: where load shedding begins. */
  readonly loadLimits?: LoadLimits;
  /** For tests: how many connections there may be. */
  readonly connectionLimits?: ConnectionLimits;
  /** For tests: how Amazon SNS, the only host that is asked, is asked. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
};

const URL_MAX_LENGTH = 2_048;

/** Builds the application; the caller listens or injects. */
export async function buildApp(
  service: VisitorService & { readonly logger: Logger },
  options: AppOptions,
): Promise<FastifyInstance> {
  const { config, campaign, secrets, funnel, metrics, clock, logger } = service;
  const { release, isStopping } = options;
  const isProxy = createIsProxy(config.trustProxy);
  const visitorAddress = createVisitorAddress(isProxy);
  const sendError = createSendError(campaign);
  const app = createFastify({ logger, visitorAddress, clock, sendError });

  addSecurityHeaders(app, config.secure);
  const noting = { onAnswered: metrics.requestAnswered, onPageSeen: funnel.pageSeen };
  noteAnswers(app, noting);
  const ownHeaders = (requestId: string): HeaderList =>
    // It tells a connection that is kept alive to send its next request elsewhere.
    isStopping() ? ['x-request-id', requestId, 'connection', 'close'] : ['x-request-id', requestId];
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
  refuseOddRequests(app, sendError);
  refuseOtherOrigins(app, config.publicUrl, sendError);

  await app.register(fastifyCookie);
  const context: VisitorContext = {
    ...service,
    mailBacklog: createMailBacklog(config.codeTtlSeconds),
    cookies: createCookies(secrets, config.secure),
    visitorAddress,
    letterPage: createLetterPage(campaign.site, config.secure),
    sendError,
  };
  await addApi(app, context, options);

  const site = release && serveSite(app, { ...config, release, sendError });
  app.setNotFoundHandler((request, reply) =>
    site === null || request.url.startsWith('/api/')
      ? sendError(reply, 'not-found')
      : site.answerUnknown(request, reply),
  );
  if (site !== null)
    addSiteFastPath(app, {
      resources: site.resources,
      urlMaxLength: URL_MAX_LENGTH,
      ownHeaders,
      onRequest: noteForgottenProxy,
      ...noting,
    });
  boundConnections(app.server, { limits: options.connectionLimits, isProxy, metrics, logger });
  return app;
}

function refuseOddRequests(app: FastifyInstance, sendError: SendError): void {
  app.addHook('onRequest', async (request, reply) => {
    if (!namesItsHost(request.raw)) return sendError(reply, 'malformed-body', { sentence: HOST_SENTENCE });
    if (request.url.length > URL_MAX_LENGTH) return sendError(reply, 'uri-too-long');
  });
}

/** Adds every route of the API. */
async function addApi(
  app: FastifyInstance,
  context: VisitorContext,
  { isStopping, isReplaced = () => false, fetch: fetchIt = (url, init) => fetch(url, init) }: AppOptions,
): Promise<void> {
  addLeadRoutes(app, context);
  addArticleRoutes(app, context);
  addGuideLinkRoute(app, context);
  await addUnsubscribeRoutes(app, context);
  const mailEventUrls = await addMailEventRoutes(app, {
    ...context,
    config: context.config.mailEvents,
    complaints: complaintsTo(context),
    fetch: fetchIt,
  });
  addFunnelRoute(app, context);
  addLiveRoute(app);
  addHealthRoute(app, { ...context, isLeaving: () => isStopping() && !isReplaced() });
  refuseOtherMethods(app, context.sendError, mailEventUrls);
}

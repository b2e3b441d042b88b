import { Readable } from 'node:stream';

import type { FastifyInstance, FastifyReply } from 'fastify';

import { CommandFailure } from '#desk/command-failure.ts';
import { createHandlers } from '#desk/server/handlers/all-handlers.ts';
import { NO_STORE, serveDeskFiles } from '#desk/server/app-files.ts';
import { addAuthRoutes, type AddRoute } from '#desk/server/auth/auth-routes.ts';
import { createDeskCookies } from '#desk/server/auth/desk-cookies.ts';
import { createDeskUsers, type Access } from '#desk/server/auth/desk-users.ts';
import type { FileResponse } from '#desk/server/handler.ts';
import { refuse } from '#desk/server/refuse.ts';
import { deleteDeskAccess } from '#server/db/tables/desk-access.ts';
import { createHttp, type HttpOptions } from '#server/http/http.ts';
import { contentSecurityPolicy, hashOf } from '#server/http/security-headers.ts';
import type { Service } from '#server/startup/service.ts';
import type { Errors } from '#shared/campaign-schema.ts';

export type DeskAppOptions = Pick<HttpOptions, 'isStopping' | 'loadLimits'> & {
  readonly access: Access;
  /** The release's desk/; null serves only the API. */
  readonly files: string | null;
  readonly dnsServers?: readonly string[] | undefined;
};

/** Replace the campaign's sentences, which address visitors in the campaign's language. */
const SENTENCES: Partial<Errors> = {
  'invalid-input': 'The desk did not understand this request. Reload the page, and try again.',
  'malformed-body': 'The desk did not understand this request. Reload the page, and try again.',
  'wrong-origin': 'This request came from another site and was refused. Open the desk at its own URL.',
  'not-found': 'There is nothing at this URL. Go back, or open the start page of the desk.',
  'method-not-allowed': 'This URL does not accept requests of this type. Reload the page, and try again.',
  'request-timeout': 'Your request took too long to arrive. Try again.',
  'body-too-large': 'Your input is too long for the desk. Shorten it, and try again.',
  'uri-too-long': 'This URL is too long. Shorten your search text.',
  'unsupported-media-type': 'The desk did not understand this request. Reload the page, and try again.',
  'too-many-requests': 'Too many attempts. Try again {when}.',
  'internal-error': 'An unexpected error occurred. The server log has the details. Try again {when}.',
  unavailable: 'The desk is busy, or its database is unavailable. Try again {when}.',
};

const GONE = {
  sentence:
    'Nothing was done, because this no longer exists. Somebody may have deleted it in the meantime. Reload the page.',
};

/** Rendering a report blocks the event loop for up to two seconds. The few desk users wait instead of being refused. */
const DESK_LOAD_LIMITS: NonNullable<HttpOptions['loadLimits']> = {
  maxPending: 1_000,
  // Never refuses for this reason.
  maxEventLoopDelayMs: 0,
};
/** Status used by nginx if the client has closed the connection. */
const CLIENT_CLOSED_REQUEST = 499;

export async function buildDeskApp(service: Service, options: DeskAppOptions): Promise<FastifyInstance> {
  const { config, campaign, secrets, database } = service;
  const { access, files, dnsServers } = options;
  const secure = access.url.startsWith('https:');
  const http = await createHttp(
    {
      ...service,
      config: { ...config, publicUrl: access.url, basePath: '', secure },
      campaign: {
        ...campaign,
        errors: { ...campaign.errors, ...SENTENCES },
        site: { ...campaign.site, language: 'en' },
      },
      funnel: { pageSeen: () => {} },
    },
    {
      ...options,
      loadLimits: options.loadLimits ?? DESK_LOAD_LIMITS,
      release: null,
      urlSetting: access.kind === 'people' ? 'DESK_URL' : null,
    },
  );
  const { app, visitorAddress, sendError } = http;
  const cookies = createDeskCookies(secrets, access.url);
  const users = createDeskUsers(service, { access, cookies, visitorAddress, dnsServers });

  // Someone who returns to DESK_PEOPLE must not regain an old session or passkey.
  if (access.kind === 'people') await deleteDeskAccess(database.db, { except: [...access.people.keys()] });

  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (!reply.hasHeader('cache-control')) void reply.header('cache-control', NO_STORE);
    void reply.header('x-robots-tag', 'noindex');
    done();
  });

  app.addHook('preValidation', async (request, reply) => {
    if (isUnstorable(request.query) || isUnstorable(request.body)) return sendError(reply, 'invalid-input');
  });

  const sendFailure = (error: unknown, reply: FastifyReply): FastifyReply => {
    if (error instanceof CommandFailure)
      return refuse(reply, error.exitCode === 2 ? 'invalid-input' : 'cannot-be-done', error.message);
    if (reply.raw.destroyed && error instanceof Error && error.name === 'AbortError')
      return reply.code(CLIENT_CLOSED_REQUEST).send();
    throw error;
  };

  const paths: string[] = [];
  const route: AddRoute = ({ method, path, needs, input }, handle) => {
    paths.push(path);
    app.route({
      method,
      url: path,
      onRequest: users.requireRole(needs),
      handler: async (request, reply) => {
        const parsed = input.safeParse((method === 'POST' ? request.body : request.query) ?? {});
        if (!parsed.success) return sendError(reply, 'invalid-input');
        try {
          const output = await handle(request, reply, parsed.data);
          // A handler that has responded returns the reply, but awaiting a reply yields undefined.
          if (reply.sent) return reply;
          return output === null ? await sendError(reply, 'not-found', GONE) : await reply.send(output);
        } catch (error) {
          return sendFailure(error, reply);
        }
      },
    });
  };

  const stopAuth = addAuthRoutes({ service, access, cookies, route, users, sendError });
  app.addHook('onClose', stopAuth);

  const handlers = createHandlers(service);
  for (const { endpoint, handle } of handlers.endpoints)
    route(endpoint, (request, reply, input) => handle(users.contextOf(request, reply), input));

  for (const { path, needs, handle } of handlers.files)
    app.get<{ Querystring: Record<string, unknown> }>(
      path,
      { onRequest: users.requireRole(needs), exposeHeadRoute: false },
      async (request, reply) => {
        try {
          const file = await handle(users.contextOf(request, reply), request.query);
          return file === null
            ? await sendError(reply, 'not-found', GONE)
            : await sendFile(reply, file, secure);
        } catch (error) {
          return sendFailure(error, reply);
        }
      },
    );

  app.server.once('listening', () => {
    handlers.warmUp().catch((error: unknown) => {
      service.logger.warn(
        { err: error },
        'Past days could not be counted in advance, so the first report on them will be slow.',
      );
    });
  });
  serveDeskFiles(app, { folder: files, secure, accent: service.campaign.site.colors?.accent, ...http });
  http.completeWithoutPage([...paths, ...handlers.files.map(({ path }) => path)]);
  return app;
}

/** Valid input is less deeply nested. */
const MAX_NESTING = 20;

/** PostgreSQL cannot store NUL in text. A value with too much nesting is refused, too. */
function isUnstorable(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (typeof value !== 'object' || value === null) return false;
  if (depth === MAX_NESTING) return true;
  return Object.entries(value)
    .flat()
    .some((part) => isUnstorable(part, depth + 1));
}

function sendFile(
  reply: FastifyReply,
  { type, fileName, styles, body }: FileResponse,
  secure: boolean,
): FastifyReply {
  void reply.type(type);
  if (fileName !== undefined)
    void reply.header(
      'content-disposition',
      `attachment; filename="${fileName.replaceAll(/[^\w.-]/g, '-')}"`,
    );
  if (styles !== undefined)
    void reply.header(
      'content-security-policy',
      contentSecurityPolicy({ scripts: [], styles: styles.map(hashOf) }, secure),
    );
  return reply.send(typeof body === 'string' ? body : Readable.from(body));
}

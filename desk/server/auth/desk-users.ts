// Identifies the user of a request, checks the role, and writes actions to the audit log.
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';

import { AT_THE_MACHINE, logAction, type Actor, type LogForActor } from '#desk/audit-log/audit-log.ts';
import type { Needs, Role } from '#desk/endpoints/endpoint.ts';
import type { DeskCookies } from '#desk/server/auth/desk-cookies.ts';
import type { Link } from '#desk/server/auth/link.ts';
import {
  createStoredSessions,
  type OpenSession,
  type Client,
  type Sessions,
} from '#desk/server/auth/sessions.ts';
import type { DeskContext } from '#desk/server/handler.ts';
import { refuse } from '#desk/server/refuse.ts';
import type { Http } from '#server/http/http.ts';
import type { DeskConfig } from '#server/settings/settings.ts';
import type { Service } from '#server/startup/service.ts';

export type Access =
  | ({ readonly kind: 'people' } & DeskConfig)
  | { readonly kind: 'link'; readonly url: string; readonly link: Link };

type SignedIn = { readonly session: OpenSession; readonly role: Role };
type AuthContext = DeskContext &
  SignedIn & {
    /** Like `log`, but for completed actions: if logging fails, the error is logged and the response still succeeds. */
    readonly logDone: LogForActor;
    readonly sessions: Sessions;
  };

export type DeskUsers = {
  /** Checks the user before the body is read. */
  readonly requireRole: (needs: Needs) => onRequestAsyncHookHandler;
  /** Only for requests that have passed {@link requireRole}. */
  readonly contextOf: (request: FastifyRequest, reply: FastifyReply) => AuthContext;
  readonly clientOf: (request: FastifyRequest) => Client;
  readonly auditFor: (
    request: FastifyRequest,
    email: string | null,
  ) => Pick<AuthContext, 'actor' | 'log' | 'logDone'>;
};

const NO_SESSION = 'You are not signed in, or your session has ended. Sign in again.';
const VIEW_ONLY =
  'Your role only allows viewing. To make changes, ask the operator for the role "all" in DESK_PEOPLE.';
const MAX_BROWSER_LENGTH = 200;

export function createDeskUsers(
  service: Service,
  {
    access,
    cookies,
    visitorAddress,
    dnsServers,
  }: Pick<Http, 'visitorAddress'> & {
    readonly access: Access;
    readonly cookies: DeskCookies;
    readonly dnsServers: readonly string[] | undefined;
  },
): DeskUsers {
  const { database, secrets, clock } = service;
  const sessions =
    access.kind === 'people' ? createStoredSessions(database.db, secrets) : access.link.sessions;
  const signedIn = new WeakMap<FastifyRequest, SignedIn>();

  const findUser = async (request: FastifyRequest): Promise<SignedIn | null> => {
    const token = cookies.session.read(request);
    const session = token === null ? null : await sessions.find(token, clock());
    if (session === null) return null;
    if (access.kind === 'link') return { session, role: 'all' };
    // Removal from DESK_PEOPLE also ends open sessions.
    const role = session.email === null ? undefined : access.people.get(session.email)?.role;
    return role === undefined ? null : { session, role };
  };

  const ipAddressOf = (request: FastifyRequest): string => visitorAddress(request.raw) ?? '';

  const auditFor: DeskUsers['auditFor'] = (request, email) => {
    const actor: Actor = { who: email ?? AT_THE_MACHINE, from: ipAddressOf(request) };
    const log: LogForActor = (action, about, details) =>
      logAction(service, { ...actor, action, about, details });
    const logDone: LogForActor = (action, ...more) =>
      log(action, ...more).catch((error: unknown) =>
        service.logger.error(
          { err: error, action },
          'An action in the desk could not be written to the audit log.',
        ),
      );
    return { actor, log, logDone };
  };

  return {
    requireRole: (needs) => async (request, reply) => {
      if (needs === null) return;
      const user = await findUser(request);
      if (user === null) return refuse(reply, 'no-session', NO_SESSION);
      if (needs === 'all' && user.role !== 'all') return refuse(reply, 'may-not', VIEW_ONLY);
      signedIn.set(request, user);
    },

    contextOf: (request, reply) => {
      const user = signedIn.get(request);
      // If the browser disconnects during a refusal, Fastify may still call the handler, which must not act.
      if (user === undefined) throw new Error('The browser disconnected before the response.');
      const disconnected = new AbortController();
      reply.raw.once('close', () => {
        if (!reply.raw.writableFinished) disconnected.abort();
      });
      return {
        service,
        ...user,
        ...auditFor(request, user.session.email),
        signal: disconnected.signal,
        dnsServers,
        sessions,
      };
    },

    clientOf: (request) => ({
      from: ipAddressOf(request),
      browser: (request.headers['user-agent'] ?? '').replaceAll(/\p{C}/gu, ' ').slice(0, MAX_BROWSER_LENGTH),
    }),

    auditFor,
  };
}

import { randomUUID } from 'node:crypto';

import type { FastifyReply, FastifyRequest } from 'fastify';

import { logEntryOf } from '#desk/audit-log/audit-log.ts';
import type { Endpoint, Nothing } from '#desk/endpoints/endpoint.ts';
import * as authEndpoints from '#desk/endpoints/auth.ts';
import * as passkeyEndpoints from '#desk/endpoints/passkeys.ts';
import type { DeskCookies } from '#desk/server/auth/desk-cookies.ts';
import type { Access, DeskUsers } from '#desk/server/auth/desk-users.ts';
import { createPasskeys } from '#desk/server/auth/passkeys.ts';
import { createSignIn } from '#desk/server/auth/sign-in.ts';
import { hasNews } from '#desk/people/selection.ts';
import { refuse } from '#desk/server/refuse.ts';
import { deskLogPage } from '#server/db/tables/desk-log.ts';
import type { Http } from '#server/http/http.ts';
import { isoTime } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';

export type AddRoute = <Input, Output>(
  endpoint: Endpoint<Input, Output>,
  /** Returns null if nothing was found, and `reply` if it has already sent the response. */
  handle: (
    request: FastifyRequest,
    reply: FastifyReply,
    input: Input,
  ) => Promise<Output | FastifyReply | null>,
) => void;

export type AuthParts = Pick<Http, 'sendError'> & {
  readonly service: Service;
  readonly access: Access;
  readonly cookies: DeskCookies;
  readonly route: AddRoute;
  readonly users: Pick<DeskUsers, 'contextOf' | 'clientOf' | 'auditFor'>;
};

const ONLY_BY_LINK =
  'This desk was opened with "npm run desk -- open". Use the link printed by that command.';
const LOG_PAGE = 100;

export function addAuthRoutes({
  service,
  access,
  cookies,
  route,
  users: { contextOf, clientOf, auditFor },
  sendError,
}: AuthParts): () => Promise<void> {
  const signIn = access.kind === 'people' ? createSignIn(service, access) : null;
  const passkeys = access.kind === 'people' ? createPasskeys(service, access) : null;

  async function completeSignIn(
    request: FastifyRequest,
    reply: FastifyReply,
    { email, token, details }: { email: string | null; token: string; details?: string },
  ): Promise<Nothing> {
    cookies.session.set(reply, token);
    // A read-only database must not prevent signing in, because the user may want to investigate it.
    await auditFor(request, email).logDone('signed-in', null, details);
    return {};
  }

  route(authEndpoints.requestCode, async (request, reply, { email }) => {
    if (signIn === null) return refuse(reply, 'cannot-be-done', ONLY_BY_LINK);
    const browserId = cookies.browserId.read(request) ?? randomUUID();
    const { from } = clientOf(request);
    const outcome = await signIn.requestCode(email, { browserId, from });
    if (outcome.type === 'too many') return sendError(reply, 'too-many-requests', outcome);
    cookies.browserId.set(reply, browserId);
    return { resendSeconds: outcome.resendSeconds };
  });

  route(authEndpoints.enterCode, async (request, reply, { code }) => {
    if (signIn === null) return refuse(reply, 'cannot-be-done', ONLY_BY_LINK);
    const browserId = cookies.browserId.read(request);
    const outcome = await signIn.enterCode(code, { ...clientOf(request), browserId });
    switch (outcome.type) {
      case 'too many':
        return sendError(reply, 'too-many-requests', outcome);
      case 'no attempts left':
        return refuse(reply, 'too-many-tries', 'Too many wrong codes were entered. Request a new code.');
      case 'wrong code':
        return refuse(
          reply,
          'wrong-code',
          'This code is wrong or has expired. Enter the code from the newest e-mail, or request a new code.',
        );
      case 'signed in':
        cookies.browserId.clear(reply);
        return completeSignIn(request, reply, outcome);
    }
  });

  route(authEndpoints.enterLink, async (request, reply, input) => {
    const token =
      access.kind === 'link' ? access.link.enter(input.token, clientOf(request), service.clock()) : null;
    if (token === null)
      return refuse(
        reply,
        'no-session',
        'This link has already been used or is more than ten minutes old. Run "npm run desk -- open" again.',
      );
    return completeSignIn(request, reply, { email: null, token, details: 'link of desk open' });
  });

  route(authEndpoints.me, async (request, reply) => {
    const { session, role } = contextOf(request, reply);
    const { campaign, clock, config, webhooks } = service;
    return {
      email: session.email,
      role,
      title: campaign.site.title,
      publicUrl: config.publicUrl,
      sessionEndsInMs: session.endsAt - clock(),
      fields: campaign.form.fields.map(({ id, label, kind, options = null }) => ({
        id,
        label,
        options,
        areSeveral: kind === 'choices',
      })),
      variants: campaign.variants.map(({ name }) => name),
      hasNews: await hasNews(service),
      hasWebhooks: webhooks.endpoints.length > 0,
      timeZone: config.timeZone,
    };
  });

  route(authEndpoints.sessions, async (request, reply) => {
    const { session, sessions } = contextOf(request, reply);
    const open = await sessions.of(session.email, service.clock());
    return {
      sessions: open.map(({ id, begunAt, endsAt, from, browser }) => ({
        id,
        isThis: id === session.id,
        begunAt: isoTime(begunAt),
        endsAt: isoTime(endsAt),
        from,
        browser,
      })),
    };
  });

  route(authEndpoints.endSession, async (request, reply, { id }) => {
    const { session, sessions, logDone } = contextOf(request, reply);
    if (!(await sessions.end({ id, email: session.email }))) return null;
    await logDone('signed-out', null);
    return {};
  });

  route(authEndpoints.log, async (_request, _reply, { after = null }) => {
    const rows = await deskLogPage(service.database.db, { order: 'newest', after, limit: LOG_PAGE + 1 });
    const entries = rows.slice(0, LOG_PAGE).map(logEntryOf);
    return { entries, next: rows.length > LOG_PAGE ? (entries.at(-1)?.id ?? null) : null };
  });

  route(authEndpoints.signOut, async (request, reply) => {
    const { session, sessions, logDone } = contextOf(request, reply);
    await sessions.end(session);
    cookies.session.clear(reply);
    await logDone('signed-out', null);
    return {};
  });

  route(passkeyEndpoints.passkeys, async (request, reply) => {
    const { email } = contextOf(request, reply).session;
    return { passkeys: passkeys === null || email === null ? [] : await passkeys.list(email) };
  });

  route(passkeyEndpoints.newPasskeyOptions, async (request, reply) => {
    const { email } = contextOf(request, reply).session;
    if (passkeys === null || email === null) return refuse(reply, 'cannot-be-done', ONLY_BY_LINK);
    const { options, signed } = await passkeys.beginRegistration(email);
    cookies.challenge.set(reply, signed);
    return options;
  });

  route(passkeyEndpoints.addPasskey, async (request, reply, input) => {
    const { session, logDone } = contextOf(request, reply);
    if (passkeys === null || session.email === null) return refuse(reply, 'cannot-be-done', ONLY_BY_LINK);
    const registration = { ...input, signed: cookies.challenge.read(request) };
    cookies.challenge.clear(reply);
    if (!(await passkeys.add(session.email, registration)))
      return refuse(
        reply,
        'wrong-passkey',
        'The passkey could not be added. Try again, and finish within five minutes.',
      );
    await logDone('added-passkey', null);
    return {};
  });

  route(passkeyEndpoints.removePasskey, async (request, reply, { id }) => {
    const { session, logDone } = contextOf(request, reply);
    if (passkeys === null || session.email === null) return null;
    if (!(await passkeys.remove(session.email, id))) return null;
    await logDone('removed-passkey', null);
    return {};
  });

  route(passkeyEndpoints.passkeySignInOptions, async (_request, reply) => {
    if (passkeys === null) return refuse(reply, 'cannot-be-done', ONLY_BY_LINK);
    const { options, signed } = await passkeys.beginSignIn();
    cookies.challenge.set(reply, signed);
    return options;
  });

  route(passkeyEndpoints.signInWithPasskey, async (request, reply, input) => {
    if (passkeys === null) return refuse(reply, 'cannot-be-done', ONLY_BY_LINK);
    const signed = cookies.challenge.read(request);
    const outcome = await passkeys.signIn({ ...clientOf(request), ...input, signed });
    cookies.challenge.clear(reply);
    switch (outcome.type) {
      case 'too many':
        return sendError(reply, 'too-many-requests', outcome);
      case 'wrong passkey':
        return refuse(
          reply,
          'wrong-passkey',
          'This passkey was not accepted. Try again, or sign in with an e-mailed code.',
        );
      case 'signed in':
        return completeSignIn(request, reply, { ...outcome, details: 'passkey' });
    }
  });

  return async () => signIn?.stop();
}

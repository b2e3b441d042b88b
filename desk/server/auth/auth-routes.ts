import { randomUUID } from 'node:crypto';

import type { FastifyReply, FastifyRequest } from 'fastify';

import { logEntryOf } from '#desk/audit-log/audit-log.ts';
import type { Call, Nothing } from '#desk/endpoints/endpoint.ts';
import * as calls from '#desk/endpoints/auth.ts';
import * as passkeyCalls from '#desk/endpoints/passkeys.ts';
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

export type AddRoute = <What, Answer>(
  call: Call<What, Answer>,
  /** Returns null if nothing was found, and `reply` if it has already sent the response. */
  handle: (
    request: FastifyRequest,
    reply: FastifyReply,
    asked: What,
  ) => Promise<Answer | FastifyReply | null>,
) => void;

export type AuthParts = Pick<Http, 'sendError'> & {
  readonly service: Service;
  readonly access: Access;
  readonly cookies: DeskCookies;
  readonly route: AddRoute;
  readonly users: Pick<DeskUsers, 'contextOf' | 'placeOf' | 'noteBy'>;
};

const ONLY_BY_LINK =
  'This desk was opened with "npm run desk -- open". Use the link printed by that command.';
const LOG_PAGE = 100;

export function addAuthRoutes({
  service,
  access,
  cookies,
  route,
  users: { contextOf, placeOf, noteBy },
  sendError,
}: AuthParts): () => Promise<void> {
  const signIn = access.kind === 'people' ? createSignIn(service, access) : null;
  const passkeys = access.kind === 'people' ? createPasskeys(service, access) : null;

  async function letIn(
    request: FastifyRequest,
    reply: FastifyReply,
    { email, token, details }: { email: string | null; token: string; details?: string },
  ): Promise<Nothing> {
    cookies.session.set(reply, token);
    // A read-only database must not prevent signing in, because the user may want to investigate it.
    await noteBy(request, email).noteDone('signed-in', null, details);
    return {};
  }

  route(calls.askCode, async (request, reply, { email }) => {
    if (signIn === null) return refuse(reply, 'cannot-be-done', ONLY_BY_LINK);
    const browserId = cookies.browserId.read(request) ?? randomUUID();
    const { from } = placeOf(request);
    const outcome = await signIn.ask(email, { browserId, from });
    if (outcome.type === 'too many') return sendError(reply, 'too-many-requests', outcome);
    cookies.browserId.set(reply, browserId);
    return { resendSeconds: outcome.resendSeconds };
  });

  route(calls.enterCode, async (request, reply, { code }) => {
    if (signIn === null) return refuse(reply, 'cannot-be-done', ONLY_BY_LINK);
    const browserId = cookies.browserId.read(request);
    const outcome = await signIn.enter(code, { ...placeOf(request), browserId });
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
      case 'in':
        cookies.browserId.clear(reply);
        return letIn(request, reply, outcome);
    }
  });

  route(calls.enterLink, async (request, reply, asked) => {
    const token =
      access.kind === 'link' ? access.link.enter(asked.token, placeOf(request), service.clock()) : null;
    if (token === null)
      return refuse(
        reply,
        'no-session',
        'This link has already been used or is more than ten minutes old. Run "npm run desk -- open" again.',
      );
    return letIn(request, reply, { email: null, token, details: 'link of desk open' });
  });

  route(calls.me, async (request, reply) => {
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

  route(calls.sessions, async (request, reply) => {
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

  route(calls.endSession, async (request, reply, { id }) => {
    const { session, sessions, noteDone } = contextOf(request, reply);
    if (!(await sessions.end({ id, email: session.email }))) return null;
    await noteDone('signed-out', null);
    return {};
  });

  route(calls.log, async (_request, _reply, { after = null }) => {
    const rows = await deskLogPage(service.database.db, { order: 'newest', after, limit: LOG_PAGE + 1 });
    const entries = rows.slice(0, LOG_PAGE).map(logEntryOf);
    return { entries, next: rows.length > LOG_PAGE ? (entries.at(-1)?.id ?? null) : null };
  });

  route(calls.signOut, async (request, reply) => {
    const { session, sessions, noteDone } = contextOf(request, reply);
    await sessions.end(session);
    cookies.session.clear(reply);
    await noteDone('signed-out', null);
    return {};
  });

  route(passkeyCalls.passkeys, async (request, reply) => {
    const { email } = contextOf(request, reply).session;
    return { passkeys: passkeys === null || email === null ? [] : await passkeys.list(email) };
  });

  route(passkeyCalls.newPasskey, async (request, reply) => {
    const { email } = contextOf(request, reply).session;
    if (passkeys === null || email === null) return refuse(reply, 'cannot-be-done', ONLY_BY_LINK);
    const { options, signed } = await passkeys.beginAdding(email);
    cookies.challenge.set(reply, signed);
    return options;
  });

  route(passkeyCalls.addPasskey, async (request, reply, asked) => {
    const { session, noteDone } = contextOf(request, reply);
    if (passkeys === null || session.email === null) return refuse(reply, 'cannot-be-done', ONLY_BY_LINK);
    const given = { ...asked, signed: cookies.challenge.read(request) };
    cookies.challenge.clear(reply);
    if (!(await passkeys.add(session.email, given)))
      return refuse(
        reply,
        'wrong-passkey',
        'The passkey could not be added. Try again, and finish within five minutes.',
      );
    await noteDone('added-passkey', null);
    return {};
  });

  route(passkeyCalls.removePasskey, async (request, reply, { id }) => {
    const { session, noteDone } = contextOf(request, reply);
    if (passkeys === null || session.email === null) return null;
    if (!(await passkeys.remove(session.email, id))) return null;
    await noteDone('removed-passkey', null);
    return {};
  });

  route(passkeyCalls.askPasskey, async (_request, reply) => {
    if (passkeys === null) return refuse(reply, 'cannot-be-done', ONLY_BY_LINK);
    const { options, signed } = await passkeys.beginEntering();
    cookies.challenge.set(reply, signed);
    return options;
  });

  route(passkeyCalls.enterPasskey, async (request, reply, asked) => {
    if (passkeys === null) return refuse(reply, 'cannot-be-done', ONLY_BY_LINK);
    const signed = cookies.challenge.read(request);
    const outcome = await passkeys.enter({ ...placeOf(request), ...asked, signed });
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
      case 'in':
        return letIn(request, reply, { ...outcome, details: 'passkey' });
    }
  });

  return async () => signIn?.stop();
}

// The desk's HTTP application. It checks for each call who asks and what is asked, lets the handler answer, and turns failures into
// answers. It does not listen: serve.ts and `desk open` do.
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type * as z from 'zod/mini';

import type { Needs, Role } from '#desk/calls/call.ts';
import * as calls from '#desk/calls/door.ts';
import * as passkeyCalls from '#desk/calls/passkeys.ts';
import { DESK_ERRORS, type DeskErrorCode } from '#desk/calls/errors.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import { ANSWERED, type Answered } from '#desk/http/all-handlers.ts';
import { createAnswers } from '#desk/http/answers/all-answers.ts';
import { NO_STORE, serveDeskFiles } from '#desk/http/app-files.ts';
import { createDeskCookies } from '#desk/http/door/cookies.ts';
import { createPasskeys } from '#desk/http/door/passkeys.ts';
import type { DoorContext } from '#desk/http/door/door-answers.ts';
import type { Link } from '#desk/http/door/link.ts';
import {
  createStoredSessions,
  type MemorySessions,
  type OpenSession,
  type Place,
} from '#desk/http/door/sessions.ts';
import { createSignIn, type EnterOutcome } from '#desk/http/door/sign-in.ts';
import type { FileAnswer } from '#desk/http/handler.ts';
import { AT_THE_MACHINE, noteDeed } from '#desk/record/record.ts';
import { createHttp, type HttpOptions } from '#server/http/http.ts';
import { contentSecurityPolicy, hashOf } from '#server/http/security-headers.ts';
import type { Service } from '#server/run/service.ts';
import type { DeskConfig } from '#server/settings/settings.ts';
import type { Errors } from '#shared/campaign-schema.ts';
import { ERROR_CODE_HEADER } from '#shared/errors.ts';

/** Who gets in: people of DESK_PEOPLE with a mailed code, or the person at the machine with a link. */
type Door =
  | ({ readonly kind: 'people' } & DeskConfig)
  | { readonly kind: 'link'; readonly url: string; readonly link: Link; readonly sessions: MemorySessions };

export type DeskAppOptions = Pick<HttpOptions, 'isStopping' | 'loadLimits'> & {
  readonly door: Door;
  /** The release's desk/; null serves the API alone. */
  readonly files: string | null;
  /** DNS servers to ask; the machine's own if not given. */
  readonly dnsServers?: readonly string[] | undefined;
};

/** The sentences of what the server answers by itself, in place of the campaign's, which are for visitors and in their language. */
const SENTENCES: Partial<Errors> = {
  'invalid-input': 'The desk did not understand this. Reload the page, and try again.',
  'malformed-body': 'The desk did not understand this. Reload the page, and try again.',
  'wrong-origin': 'This came from another site, and nothing was done. Open the desk at its own address.',
  'not-found': 'There is nothing at this address. Go back, or to the first page of the desk.',
  'method-not-allowed': 'This address does not take such a request. Reload the page, and try again.',
  'request-timeout': 'Your request took too long to arrive. Try again.',
  'body-too-large': 'This is more than the desk takes at once. Shorten it, and try again.',
  'uri-too-long': 'This is more than an address can hold. Shorten what you search for.',
  'unsupported-media-type': 'The desk did not understand this. Reload the page, and try again.',
  'too-many-requests': 'This was tried too often. Try again {when}.',
  'internal-error': 'Something failed, and the log of the page says what. Try again {when}.',
  unavailable: 'The desk is busy, or its database is not available. Try again {when}.',
};

const NO_SESSION = 'You are not signed in, or your session has ended. Sign in again.';
const MAY_NOT = 'You may look, and not do this. Ask for the role "all" in DESK_PEOPLE.';
const ONLY_BY_LINK = 'This desk was opened with "npm run desk -- open": use the link that it printed.';
/** Drawing a report keeps the loop busy for a second or two. The few who are at the desk wait for it rather than be sent away. */
const PATIENT: NonNullable<HttpOptions['loadLimits']> = { maxInHand: 1_000, maxEventLoopDelayMs: 0 };
const MAX_BROWSER_LENGTH = 200;

/** Nothing that is asked nests so deeply. */
const MOST_LEVELS = 20;

/** Whether a text holds the character that no text of PostgreSQL can hold. */
function holdsNul(value: unknown, levels = 0): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (typeof value !== 'object' || value === null) return false;
  if (levels === MOST_LEVELS) return true;
  return Object.entries(value)
    .flat()
    .some((part) => holdsNul(part, levels + 1));
}

/** Builds the application; the caller listens or injects, and closes it. */
export async function buildDeskApp(service: Service, options: DeskAppOptions): Promise<FastifyInstance> {
  const { config, campaign, secrets, database, clock } = service;
  const { door, files, dnsServers } = options;
  const secure = door.url.startsWith('https:');
  const http = await createHttp(
    {
      ...service,
      config: { ...config, publicUrl: door.url, basePath: '', secure },
      campaign: {
        ...campaign,
        errors: { ...campaign.errors, ...SENTENCES },
        site: { ...campaign.site, language: 'en' },
      },
      // What is counted is the page.
      funnel: { pageSeen: () => {} },
    },
    { ...options, loadLimits: options.loadLimits ?? PATIENT, release: null },
  );
  const { app, visitorAddress, sendError } = http;
  const cookies = createDeskCookies(secrets, door.url);
  const sessions = door.kind === 'people' ? createStoredSessions(database.db) : door.sessions;
  const signIn = door.kind === 'people' ? createSignIn(service, door) : null;
  const passkeys = door.kind === 'people' ? createPasskeys(service, door) : null;
  app.addHook('onClose', async () => signIn?.stop());

  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (!reply.hasHeader('cache-control')) void reply.header('cache-control', NO_STORE);
    void reply.header('x-robots-tag', 'noindex');
    done();
  });

  app.addHook('preValidation', async (request, reply) => {
    if (holdsNul(request.query) || holdsNul(request.body)) return sendError(reply, 'invalid-input');
  });

  const refuse = (reply: FastifyReply, code: DeskErrorCode, sentence: string): FastifyReply =>
    reply
      .code(DESK_ERRORS[code])
      .header(ERROR_CODE_HEADER, code)
      .type('text/plain; charset=utf-8')
      .send(sentence);

  /** What each request of a person who is signed in has found out about them. */
  const found = new WeakMap<FastifyRequest, { readonly session: OpenSession; readonly role: Role }>();

  const findPerson = async (
    request: FastifyRequest,
  ): Promise<{ session: OpenSession; role: Role } | null> => {
    const token = cookies.readSession(request);
    const session = token === null ? null : await sessions.find(token, clock());
    if (session === null) return null;
    if (door.kind === 'link') return { session, role: 'all' };
    // A person who was taken off DESK_PEOPLE is out, open sessions included.
    const role = session.email === null ? undefined : door.people.get(session.email);
    return role === undefined ? null : { session, role };
  };

  /** Refuses who may not, before anything they sent is read. */
  const checkPerson = (needs: Needs) => async (request: FastifyRequest, reply: FastifyReply) => {
    if (needs === null) return;
    const person = await findPerson(request);
    if (person === null) return refuse(reply, 'no-session', NO_SESSION);
    if (needs === 'all' && person.role !== 'all') return refuse(reply, 'may-not', MAY_NOT);
    found.set(request, person);
  };

  const fromOf = (request: FastifyRequest): string => visitorAddress(request.raw) ?? '';
  const placeOf = (request: FastifyRequest): Place => ({
    from: fromOf(request),
    browser: (request.headers['user-agent'] ?? '').replaceAll(/\p{C}/gu, ' ').slice(0, MAX_BROWSER_LENGTH),
  });
  const noteBy = (request: FastifyRequest, email: string | null) => {
    const who = email ?? AT_THE_MACHINE;
    const from = fromOf(request);
    return (deed: calls.Deed, about: string | null, details?: string) =>
      noteDeed(service, { who, deed, about, details, from });
  };

  const contextOf = (request: FastifyRequest, reply: FastifyReply): DoorContext => {
    const person = found.get(request);
    if (person === undefined) throw new Error('A call was answered for no one.');
    const { session, role } = person;
    const gone = new AbortController();
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) gone.abort();
    });
    return {
      service,
      person: { email: session.email, role },
      note: noteBy(request, session.email),
      signal: gone.signal,
      dnsServers,
      session,
      sessions,
    };
  };

  /** What was asked, or null after it was refused. */
  const readAsked = <Asked>(
    schema: z.ZodMiniType<Asked>,
    request: FastifyRequest,
    reply: FastifyReply,
  ): { readonly asked: Asked } | null => {
    const result = schema.safeParse((request.method === 'POST' ? request.body : request.query) ?? {});
    if (result.success) return { asked: result.data };
    sendError(reply, 'invalid-input');
    return null;
  };

  const answerFailure = (error: unknown, reply: FastifyReply): FastifyReply => {
    if (!(error instanceof CommandFailure)) throw error;
    return refuse(reply, error.exitCode === 2 ? 'invalid-input' : 'cannot-be-done', error.message);
  };

  const answers = createAnswers(service);
  const answeredCalls: readonly Answered[] = [...ANSWERED, ...answers.calls];
  for (const { call, handle } of answeredCalls)
    app.route({
      method: call.method,
      url: call.path,
      onRequest: checkPerson(call.needs),
      handler: async (request, reply) => {
        const read = readAsked(call.asked, request, reply);
        if (read === null) return reply;
        try {
          const answer = await handle(contextOf(request, reply), read.asked);
          return answer === null ? await sendError(reply, 'not-found') : await reply.send(answer);
        } catch (error) {
          return answerFailure(error, reply);
        }
      },
    });

  for (const { path, needs, handle } of answers.files)
    app.get<{ Querystring: Record<string, unknown> }>(
      path,
      { onRequest: checkPerson(needs), exposeHeadRoute: false },
      async (request, reply) => {
        try {
          const file = await handle(contextOf(request, reply), request.query);
          return file === null ? await sendError(reply, 'not-found') : await sendFile(reply, file);
        } catch (error) {
          return answerFailure(error, reply);
        }
      },
    );

  const sendFile = (reply: FastifyReply, { type, fileName, headers, styles, body }: FileAnswer) => {
    void reply.type(type).headers(headers ?? {});
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
  };

  app.post(calls.askCode.path, async (request, reply) => {
    if (signIn === null) return refuse(reply, 'cannot-be-done', ONLY_BY_LINK);
    const read = readAsked(calls.askCode.asked, request, reply);
    if (read === null) return reply;
    const browserId = cookies.readBrowserId(request) ?? randomUUID();
    const outcome = await signIn.ask(read.asked.email, { browserId, from: fromOf(request) });
    if (outcome.type === 'too many') return sendError(reply, 'too-many-requests', outcome);
    cookies.setBrowserId(reply, browserId);
    return reply.send({ resendSeconds: outcome.resendSeconds });
  });

  app.post(calls.enterCode.path, async (request, reply) => {
    if (signIn === null) return refuse(reply, 'cannot-be-done', ONLY_BY_LINK);
    const read = readAsked(calls.enterCode.asked, request, reply);
    if (read === null) return reply;
    const browserId = cookies.readBrowserId(request);
    const outcome: EnterOutcome = await signIn.enter(read.asked.code, { ...placeOf(request), browserId });
    switch (outcome.type) {
      case 'too many':
        return sendError(reply, 'too-many-requests', outcome);
      case 'no tries left':
        return refuse(reply, 'too-many-tries', 'This code was tried too often. Ask for a new one.');
      case 'wrong code':
        return refuse(
          reply,
          'wrong-code',
          'This is not the code, or it has expired. Look at the newest mail, or ask for a new code.',
        );
      case 'in':
        await noteBy(request, outcome.email)('signed-in', null);
        cookies.clearBrowserId(reply);
        cookies.setSession(reply, outcome.token);
        return reply.send({});
    }
  });

  app.post(calls.enterLink.path, async (request, reply) => {
    const read = readAsked(calls.enterLink.asked, request, reply);
    if (read === null) return reply;
    if (door.kind !== 'link' || !door.link.take(read.asked.token, clock()))
      return refuse(
        reply,
        'no-session',
        'This link was used already, or is more than ten minutes old. Run "npm run desk -- open" again.',
      );
    const token = door.sessions.begin(placeOf(request), clock());
    await noteBy(request, null)('signed-in', null, 'link of desk open');
    cookies.setSession(reply, token);
    return reply.send({});
  });

  app.get(passkeyCalls.passkeys.path, { onRequest: checkPerson('read') }, async (request, reply) => {
    const { email } = contextOf(request, reply).person;
    return reply.send({ passkeys: passkeys === null || email === null ? [] : await passkeys.list(email) });
  });

  app.post(passkeyCalls.newPasskey.path, { onRequest: checkPerson('read') }, async (request, reply) => {
    const { email } = contextOf(request, reply).person;
    if (passkeys === null || email === null) return refuse(reply, 'cannot-be-done', ONLY_BY_LINK);
    const { options: asked, cookie } = await passkeys.beginAdding(email);
    cookies.setChallenge(reply, cookie);
    return reply.send(asked);
  });

  app.post(passkeyCalls.addPasskey.path, { onRequest: checkPerson('read') }, async (request, reply) => {
    const { person, note } = contextOf(request, reply);
    if (passkeys === null || person.email === null) return refuse(reply, 'cannot-be-done', ONLY_BY_LINK);
    const read = readAsked(passkeyCalls.addPasskey.asked, request, reply);
    if (read === null) return reply;
    const given = { ...read.asked, cookie: cookies.readChallenge(request) };
    cookies.clearChallenge(reply);
    if (!(await passkeys.add(person.email, given)))
      return refuse(
        reply,
        'wrong-passkey',
        'The passkey could not be added. Try again, and finish within five minutes.',
      );
    await note('added-passkey', null);
    return reply.send({});
  });

  app.post(passkeyCalls.removePasskey.path, { onRequest: checkPerson('read') }, async (request, reply) => {
    const { person, note } = contextOf(request, reply);
    const read = readAsked(passkeyCalls.removePasskey.asked, request, reply);
    if (read === null) return reply;
    if (passkeys === null || person.email === null || !(await passkeys.remove(person.email, read.asked.id)))
      return sendError(reply, 'not-found');
    await note('removed-passkey', null);
    return reply.send({});
  });

  app.post(passkeyCalls.askPasskey.path, async (_request, reply) => {
    if (passkeys === null) return refuse(reply, 'cannot-be-done', ONLY_BY_LINK);
    const { options: asked, cookie } = await passkeys.beginEntering();
    cookies.setChallenge(reply, cookie);
    return reply.send(asked);
  });

  app.post(passkeyCalls.enterPasskey.path, async (request, reply) => {
    if (passkeys === null) return refuse(reply, 'cannot-be-done', ONLY_BY_LINK);
    const read = readAsked(passkeyCalls.enterPasskey.asked, request, reply);
    if (read === null) return reply;
    const cookie = cookies.readChallenge(request);
    const outcome = await passkeys.enter({ ...placeOf(request), ...read.asked, cookie });
    cookies.clearChallenge(reply);
    if (outcome.type === 'too many') return sendError(reply, 'too-many-requests', outcome);
    if (outcome.type === 'wrong passkey')
      return refuse(
        reply,
        'wrong-passkey',
        'This passkey was not accepted. Try again, or sign in with a mailed code.',
      );
    await noteBy(request, outcome.email)('signed-in', null, 'passkey');
    cookies.setSession(reply, outcome.token);
    return reply.send({});
  });

  app.post(calls.signOut.path, { onRequest: checkPerson(calls.signOut.needs) }, async (request, reply) => {
    const { session, note } = contextOf(request, reply);
    await sessions.end(session);
    await note('signed-out', null);
    cookies.clearSession(reply);
    return reply.send({});
  });

  app.server.once('listening', () => {
    answers.warmUp().catch((error: unknown) => {
      service.logger.warn(
        { err: error },
        'Past days could not be counted beforehand; the first look at them waits.',
      );
    });
  });
  serveDeskFiles(app, { folder: files, secure, ...http });
  const paths = [
    calls.askCode,
    calls.enterCode,
    calls.enterLink,
    calls.signOut,
    ...Object.values(passkeyCalls),
  ].map(({ path }) => path);
  http.completeWithoutPage([
    ...paths,
    ...answeredCalls.map(({ call }) => call.path),
    ...answers.files.map(({ path }) => path),
  ]);
  return app;
}

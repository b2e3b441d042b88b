// The calls of a lead: ask for a code, verify it, and, after a reload, ask which code this browser is waiting for.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { randomUUIDv7 } from 'node:crypto';

import { NIL, validate as isUuid } from 'uuid';
import type * as z from 'zod/mini';

import { JSON_TYPE, sendWhole, textResource } from '#server/http/send-resource.ts';
import { noteFirstReading } from '#server/visitors/article/first-reading.ts';
import { dropRequest } from '#server/visitors/drop-request.ts';
import { findChallengeInProgress, isWaiting } from '#server/visitors/leads/challenge-in-progress.ts';
import { attributionOf } from '#server/attribution/attribution.ts';
import type { Variant } from '#server/campaign/campaign.ts';
import { judgeWording } from '#server/visitors/leads/consent-wording.ts';
import { judgeDomain } from '#server/visitors/leads/email-domain.ts';
import { requestCode } from '#server/visitors/leads/request-code.ts';
import { verifyCode } from '#server/visitors/leads/verify-code.ts';
import { createProofOfWork, type ProofOfWork } from '#server/visitors/leads/proof-of-work.ts';
import type { VisitorContext } from '#server/visitors/visitor-context.ts';
import {
  API,
  CONSENT_VERSION_HEADER,
  VISIT_HEADER,
  PROOF_OF_WORK_HEADER,
  type Verified,
  WITH_ARTICLE,
} from '#shared/api.ts';
import { complaintIn, HONEYPOT_FIELD, normaliseEmail, Verification } from '#shared/lead.ts';
import { leadSchema } from '#shared/own-fields.ts';
import { fill } from '#shared/words.ts';

const USER_AGENT_MAX_LENGTH = 500;
/** The nil UUID (RFC 9562, section 5.9): nothing has it. */
const NO_CHALLENGE = NIL;

/** Adds the routes of the leads feature. */
export function addLeadRoutes(app: FastifyInstance, context: VisitorContext): void {
  const { database, secrets, clock } = context;
  const proofOfWork = createProofOfWork({ db: database.db, secrets, clock });
  addFormRoute(app, context, proofOfWork);
  addVerifyRoute(app, context);
  addChallengeRoute(app, context);
  app.get(API.proofOfWork, async (_request, reply) => sendJson(reply, await proofOfWork.challenge()));
}

/** The form: 202 once the code is queued. */
function addFormRoute(app: FastifyInstance, context: VisitorContext, proofOfWork: ProofOfWork): void {
  const { config, campaign, database, cookies, visitorAddress, metrics, sendError } = context;
  const Form = leadSchema(campaign.form);
  app.post(API.leads, async (request, reply) => {
    const parsed = Form.safeParse(request.body);
    if (!parsed.success) return sendInvalidForm(context, request, reply, parsed.error);
    const clientAddress = visitorAddress(request);
    if (clientAddress === null) return dropRequest(reply);
    const verdict = judgeDomain(parsed.data.email, config, campaign.freeMailDomains);
    if (verdict.type === 'refused') return sendError(reply, 'email-domain-refused');
    const knownBrowserId = cookies.readBrowserId(request);
    // Ids that begin with their time are stored beside each other. The cookie's signature, not the id, keeps strangers from using one.
    const browserId = knownBrowserId ?? randomUUIDv7();

    // Checked before a proof of work, which would be in vain.
    const stated = request.headers[CONSENT_VERSION_HEADER];
    const wording = await judgeWording(database.db, campaign.consent.version, stated);
    if (wording.type === 'unknown') return sendError(reply, 'page-outdated');
    if (
      !(await hasPaid(context, proofOfWork, request, {
        clientAddress,
        email: parsed.data.email,
        knownBrowserId,
      }))
    ) {
      metrics.limitHit('proof-of-work-required');
      return sendError(reply, 'proof-of-work-required');
    }

    const outcome = await requestCode(context, parsed.data, {
      browserId,
      isNewBrowser: knownBrowserId === null,
      clientAddress,
      consentVersion: wording.version,
      userAgent: request.headers['user-agent']?.slice(0, USER_AGENT_MAX_LENGTH) ?? null,
      attribution: attributionOf({ visit: request.headers[VISIT_HEADER], referer: request.headers.referer }),
      variant: variantIn(request.body, campaign.variants),
      flags: verdict.flags,
    });
    if (outcome.type === 'refused') {
      metrics.limitHit(outcome.error);
      return sendError(reply, outcome.error, outcome);
    }
    cookies.setBrowserId(reply, browserId);
    return sendJson(reply.code(202), outcome.requested);
  });
}

/** The code: opens a session, and answers with the article where it is asked for. */
function addVerifyRoute(app: FastifyInstance, context: VisitorContext): void {
  const { campaign, clock, cookies, visitorAddress, metrics, sendError } = context;
  const withArticle: Verified = { verified: true, article: campaign.article };
  const verifiedWithArticle = textResource(JSON.stringify(withArticle), {
    type: JSON_TYPE,
    cacheControl: 'no-store',
    always: [],
  });

  app.post(API.verify, async (request, reply) => {
    const parsed = Verification.safeParse(request.body);
    if (!parsed.success) return sendInvalidInput(context, reply, parsed.error);
    const clientAddress = visitorAddress(request);
    if (clientAddress === null) return dropRequest(reply);
    const browserId = cookies.readBrowserId(request);
    // A browser that keeps no cookie would lose the article with the next reload. It learns that at once, from the article's 401.
    const sendsArticle = browserId !== null && prefersArticle(request);
    const outcome = await verifyCode(context, parsed.data, { browserId, clientAddress, sendsArticle });
    if (outcome.type === 'refused') {
      if ('retryAfterSeconds' in outcome) metrics.limitHit(outcome.error);
      return sendError(reply, outcome.error, 'retryAfterSeconds' in outcome ? outcome : {});
    }
    if (outcome.afterMs !== null) metrics.codeEntered(outcome.afterMs);
    context.webhooks.wake();
    cookies.openSession(reply, outcome.leadId, clock());
    if (!sendsArticle) return sendJson(reply, { verified: true });
    if (!outcome.isReadingNoted) await noteFirstReading(context, outcome.leadId, request.log);
    return sendWhole(request, reply.header('preference-applied', WITH_ARTICLE), verifiedWithArticle);
  });
}

/** The code that a browser is waiting for. */
function addChallengeRoute(app: FastifyInstance, context: VisitorContext): void {
  app.get<{ Querystring: { id?: string | string[] } }>(API.challenge, async (request, reply) => {
    const { cookies, clock } = context;
    const browserId = cookies.readBrowserId(request);
    const hasSession = cookies.readSession(request, clock()) !== null;
    const asked = [request.query.id].flat()[0];
    // Anything that is no id names no challenge; PostgreSQL would even choke on a NUL.
    const id = typeof asked === 'string' && !isUuid(asked) ? NO_CHALLENGE : asked;
    const open =
      browserId === null ? null : await findChallengeInProgress(context, browserId, { id, hasSession });
    // "None" is an answer, not an error: the page asks on every reload of the code screen.
    return open === null ? reply.code(204).header('cache-control', 'no-store').send() : sendJson(reply, open);
  });
}

/** Whether a form may ask for a code: always, unless the breaker is open or the trap is filled in. */
async function hasPaid(
  context: VisitorContext,
  proofOfWork: ProofOfWork,
  { headers, body }: FastifyRequest,
  {
    clientAddress,
    email,
    knownBrowserId,
  }: { clientAddress: string; email: string; knownBrowserId: string | null },
): Promise<boolean> {
  if (!isTrapFilled(body) && !(await context.limits.breaker.isOpen(clientAddress))) return true;
  // A visitor with a live code has already solved a proof of work, or asked before the breaker opened.
  if (knownBrowserId !== null && (await isWaiting(context, knownBrowserId, normaliseEmail(email))))
    return true;
  const proof = headers[PROOF_OF_WORK_HEADER];
  return proofOfWork.accepts(typeof proof === 'string' ? proof : undefined);
}

/** Preferences may be several, in one header or in more, each with parameters (RFC 7240, section 2). */
const prefersArticle = ({ headers }: FastifyRequest): boolean =>
  [headers['prefer'] ?? []]
    .flat()
    .some((list) => list.split(',').some((one) => one.split(';', 1)[0]?.trim() === WITH_ARTICLE));

const sendJson = (reply: FastifyReply, body: object): FastifyReply =>
  reply.header('cache-control', 'no-store').send(body);

/**
 * Our page checks answers by the same list before it sends them: where they do not fit, the list has changed since the page was opened.
 * A program reads which field is wrong.
 */
function sendInvalidForm(
  context: VisitorContext,
  { headers }: FastifyRequest,
  reply: FastifyReply,
  error: z.core.$ZodError,
): FastifyReply {
  const { campaign, sendError } = context;
  const [issue] = error.issues;
  if (issue?.path[0] !== 'answers') return sendInvalidInput(context, reply, error);
  const { fields, messages } = campaign.form;
  if (headers[CONSENT_VERSION_HEADER] !== undefined)
    return sendError(reply, 'page-outdated', { sentence: messages.changed });
  const { invalid, checkField } = campaign.interface.otherInput;
  const field = fields.find(({ id }) => id === issue.path[1]);
  const unknown = issue.code === 'unrecognized_keys' ? `answers.${issue.keys[0]}` : 'answers';
  const sentence = field
    ? `${field.label}: ${issue.message}`
    : fill(checkField, { message: invalid, field: unknown });
  return sendError(reply, 'invalid-input', { sentence });
}

/** The answer's sentence is about the first issue; the generic sentences of the specification name their field as well. */
function sendInvalidInput(
  { campaign, sendError }: VisitorContext,
  reply: FastifyReply,
  error: z.core.$ZodError,
): FastifyReply {
  const { validation, otherInput } = campaign.interface;
  const [issue] = error.issues;
  const [field] = issue?.path ?? [];
  // A body that is no object has no field; its sentence is the general one.
  if (issue === undefined || field === undefined) return sendError(reply, 'invalid-input');
  const message = complaintIn(otherInput, issue.message);
  const sentence =
    message === null
      ? complaintIn(validation, issue.message)
      : fill(otherInput.checkField, { message, field: String(field) });
  return sendError(reply, 'invalid-input', sentence === null ? {} : { sentence });
}

/** The variant that a form names, if it is one of ours: a page from before a change may have another, and is not counted for any. */
const variantIn = (body: unknown, variants: readonly Variant[]): string | null => {
  const { variant } = Object(body) as { readonly variant?: unknown };
  return variants.find(({ name }) => name === variant)?.name ?? null;
};

const isTrapFilled = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && HONEYPOT_FIELD in body && body[HONEYPOT_FIELD] !== '';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { randomUUIDv7 } from 'node:crypto';

import { NIL, validate as isUuid } from 'uuid';
import * as z from 'zod/mini';

import { attributionOf } from '#server/attribution/attribution.ts';
import type { Campaign, Variant } from '#server/campaign/campaign.ts';
import { findChallenge, hasCodeOfItsOwn } from '#server/codes/challenges.ts';
import { addFunnelRoute } from '#server/funnel/funnel.ts';
import type { SendError } from '#server/http/errors.ts';
import { JSON_TYPE, sendWhole, textResource } from '#server/http/send-resource.ts';
import { dropRequest } from '#server/http/visitor-address.ts';
import { addArticleRoutes, recordFirstReading } from '#server/leads/article.ts';
import { askForCode } from '#server/leads/ask-for-code.ts';
import { findCodeScreen } from '#server/leads/code-screen.ts';
import { checkDomain } from '#server/leads/email-domain.ts';
import { createProofOfWork, type ProofOfWork } from '#server/leads/proof-of-work.ts';
import { findShownWordings } from '#server/leads/shown-wordings.ts';
import { addUnsubscribeRoutes } from '#server/leads/unsubscribe.ts';
import { verifyCode } from '#server/leads/verify-code.ts';
import type { VisitorHttp, VisitorService } from '#server/leads/visitor-service.ts';
import {
  API,
  CONSENT_VERSION_HEADER,
  PROOF_OF_WORK_HEADER,
  type Verified,
  WITH_ARTICLE,
} from '#shared/api.ts';
import { errorIn, HONEYPOT_FIELD, normaliseEmail, Verification } from '#shared/lead.ts';
import { leadSchema } from '#shared/own-fields.ts';
import { fill } from '#shared/words.ts';

const USER_AGENT_MAX_LENGTH = 500;

export async function addVisitorRoutes(
  app: FastifyInstance,
  service: VisitorService,
  http: VisitorHttp,
): Promise<void> {
  const { database, secrets, clock } = service;
  const proofOfWork = createProofOfWork(database.db, secrets, clock);
  addFormRoute(app, service, http, proofOfWork);
  addVerifyRoute(app, service, http);
  addChallengeRoute(app, service, http);
  app.get(API.proofOfWork, async (_request, reply) => sendJson(reply, await proofOfWork.challenge()));
  addArticleRoutes(app, service, http);
  await addUnsubscribeRoutes(app, service, http);
  addFunnelRoute(app, { ...service, ...http });
}

function addFormRoute(
  app: FastifyInstance,
  service: VisitorService,
  { cookies, visitorAddress, sendError }: VisitorHttp,
  proofOfWork: ProofOfWork,
): void {
  const { config, campaign, database, limits, metrics, clock } = service;
  // Accepted even if the form no longer asks for it, because a page opened earlier may still show the box.
  const newsConsentVersion = z.optional(z.string({ error: 'invalid' }));
  const Form = leadSchema(campaign.form, newsConsentVersion);
  app.post(API.leads, async (request, reply) => {
    const parsed = Form.safeParse(request.body);
    if (!parsed.success) return sendInvalidForm(campaign, sendError, request, reply, parsed.error);
    const clientAddress = visitorAddress(request);
    if (clientAddress === null) return dropRequest(reply);
    const { email } = parsed.data;
    const verdict = checkDomain(email, config, campaign.freeMailDomains);
    if (verdict.type === 'refused') return sendError(reply, 'email-domain-refused', { field: 'email' });
    const knownBrowserId = cookies.readBrowserId(request);
    // Ordered by time, so rows are stored close together. Such an ID is easy to guess, but the cookie is signed.
    const browserId = knownBrowserId ?? randomUUIDv7();

    const findOpenChallenge = async () => {
      if (knownBrowserId === null) return undefined;
      const ofBrowser = { browserId: knownBrowserId, email: normaliseEmail(email), now: clock() };
      return findChallenge(database.db, 'open', ofBrowser);
    };
    const wordings = await findShownWordings(
      database.db,
      campaign,
      parsed.data,
      request.headers[CONSENT_VERSION_HEADER],
      findOpenChallenge,
    );
    if (wordings.type === 'unknown') return sendError(reply, 'page-outdated', { field: wordings.field });
    const needsProof =
      isHoneypotFilled(request.body) || !(await limits.breaker.admitWithoutProof(clientAddress));
    const proof = request.headers[PROOF_OF_WORK_HEADER];
    // A visitor with an open challenge has already done the work, or requested the code before the breaker opened.
    if (needsProof && !hasCodeOfItsOwn(await findOpenChallenge()) && !(await proofOfWork.accepts(proof))) {
      metrics.limitHit('proof-of-work-required');
      return sendError(reply, 'proof-of-work-required');
    }

    const visitor = {
      browserId,
      isNewBrowser: knownBrowserId === null,
      clientAddress,
      consentVersion: wordings.consentVersion,
      newsConsentVersion: wordings.newsConsentVersion,
      userAgent: request.headers['user-agent']?.slice(0, USER_AGENT_MAX_LENGTH) ?? null,
      attribution: attributionOf(request.headers),
      variant: variantIn(request.body, campaign.variants),
      flags: verdict.flags,
    };
    const outcome = await askForCode(service, parsed.data, visitor, clock());
    if (outcome.type === 'refused') {
      metrics.limitHit(outcome.error);
      const field = outcome.error === 'too-many-codes' ? { field: 'email' } : {};
      return sendError(reply, outcome.error, { ...outcome, ...field });
    }
    cookies.setBrowserId(reply, browserId);
    return sendJson(reply.code(202), outcome.requested);
  });
}

function addVerifyRoute(
  app: FastifyInstance,
  service: VisitorService,
  { cookies, visitorAddress, sendError }: VisitorHttp,
): void {
  const { campaign, database, webhooks, metrics, clock } = service;
  const withArticle: Verified = { verified: true, article: campaign.article };
  const verifiedWithArticle = textResource(JSON.stringify(withArticle), {
    type: JSON_TYPE,
    cacheControl: 'no-store',
  });

  app.post(API.verify, async (request, reply) => {
    const parsed = Verification.safeParse(request.body);
    if (!parsed.success) return sendInvalidInput(campaign, sendError, reply, parsed.error);
    const clientAddress = visitorAddress(request);
    if (clientAddress === null) return dropRequest(reply);
    const browserId = cookies.readBrowserId(request);
    // A browser without cookies would lose the article at the next reload. Without the article in this response, its next request
    // gets a 401 now instead of later.
    const getsArticle = browserId !== null && prefersArticle(request);
    // With `afterCode`, the browser opens another page and keeps the article for visitors who come back.
    const readsArticle = getsArticle && campaign.site.afterCode === undefined;
    const now = clock();
    const outcome = await verifyCode(service, parsed.data, { browserId, clientAddress, readsArticle }, now);
    if (outcome.type === 'refused') {
      if ('retryAfterSeconds' in outcome) metrics.limitHit(outcome.error);
      const field = outcome.error === 'too-many-requests' ? {} : { field: 'code' };
      return sendError(reply, outcome.error, { ...('retryAfterSeconds' in outcome && outcome), ...field });
    }
    if (outcome.codeAgeMs !== null) metrics.codeEntered(outcome.codeAgeMs);
    webhooks.wake();
    cookies.openSession(reply, outcome.leadId, now);
    if (!getsArticle) return sendJson(reply, { verified: true });
    if (readsArticle && !outcome.isReadingRecorded)
      await recordFirstReading(database.db, webhooks, outcome.leadId, now, request.log);
    return sendWhole(request, reply.header('preference-applied', WITH_ARTICLE), verifiedWithArticle);
  });
}

function addChallengeRoute(
  app: FastifyInstance,
  { campaign, config, database, secrets, mail, clock }: VisitorService,
  { cookies }: VisitorHttp,
): void {
  app.get<{ Querystring: { id?: string | string[] } }>(API.challenge, async (request, reply) => {
    const now = clock();
    const browserId = cookies.readBrowserId(request);
    const givenId = [request.query.id].flat()[0];
    // Without an ID, the browser's newest challenge is found. The nil UUID replaces a malformed ID, which PostgreSQL could reject.
    const id = typeof givenId === 'string' && !isUuid(givenId) ? NIL : givenId;
    const screen =
      browserId === null
        ? null
        : await findCodeScreen(database.db, browserId, id, {
            hasSession: cookies.readSession(request, now) !== null,
            form: campaign.form,
            secrets,
            sender: mail.sender,
            resendSeconds: config.resendSeconds,
            now,
          });
    // The page asks on every reload, so a missing challenge isn't an error.
    return screen === null
      ? reply.code(204).header('cache-control', 'no-store').send()
      : sendJson(reply, screen);
  });
}

/** Preferences may be spread over several headers and have parameters (RFC 7240, section 2). */
const prefersArticle = ({ headers }: FastifyRequest): boolean =>
  [headers['prefer'] ?? []]
    .flat()
    .some((list) => list.split(',').some((item) => item.split(';', 1)[0]?.trim() === WITH_ARTICLE));

const sendJson = (reply: FastifyReply, body: object): FastifyReply =>
  reply.header('cache-control', 'no-store').send(body);

/**
 * Our page, which sends the header below, validates answers itself, so an invalid one means that the questions have changed. Other
 * clients get the field's error.
 */
function sendInvalidForm(
  campaign: Campaign,
  sendError: SendError,
  { headers }: FastifyRequest,
  reply: FastifyReply,
  error: z.core.$ZodError,
): FastifyReply {
  const [issue] = error.issues;
  if (issue?.path[0] !== 'answers') return sendInvalidInput(campaign, sendError, reply, error);
  const { fields, messages } = campaign.form;
  if (headers[CONSENT_VERSION_HEADER] !== undefined)
    return sendError(reply, 'page-outdated', { sentence: messages.changed });
  const { invalid, checkField } = campaign.interface.otherInput;
  const field = fields.find(({ id }) => id === issue.path[1]);
  const name = issue.code === 'unrecognized_keys' ? `answers.${issue.keys[0]}` : 'answers';
  const sentence = field
    ? `${field.label}: ${issue.message}`
    : fill(checkField, { message: invalid, field: name });
  return sendError(reply, 'invalid-input', { sentence, ...(field && { field: `answers.${field.id}` }) });
}

function sendInvalidInput(
  campaign: Campaign,
  sendError: SendError,
  reply: FastifyReply,
  error: z.core.$ZodError,
): FastifyReply {
  const { validation, otherInput } = campaign.interface;
  const [issue] = error.issues;
  const [field] = issue?.path ?? [];
  if (issue === undefined || field === undefined) return sendError(reply, 'invalid-input');
  const message = errorIn(otherInput, issue.message);
  const sentence =
    message === null
      ? errorIn(validation, issue.message)
      : fill(otherInput.checkField, { message, field: String(field) });
  return sendError(reply, 'invalid-input', { field: String(field), ...(sentence !== null && { sentence }) });
}

const variantIn = (body: unknown, variants: readonly Variant[]): string | null => {
  const { variant } = Object(body) as { readonly variant?: unknown };
  return variants.find(({ name }) => name === variant)?.name ?? null;
};

const isHoneypotFilled = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && HONEYPOT_FIELD in body && body[HONEYPOT_FIELD] !== '';

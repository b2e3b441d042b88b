// The calls of a lead: ask for a code, verify it, and, after a reload, ask which code this browser is waiting for.
import type { FastifyInstance, FastifyReply } from 'fastify';
import type * as z from 'zod/mini';

import { newBrowserId, type Cookies } from '#server/access/cookies.ts';
import { sendError } from '#server/http/errors.ts';
import { findChallengeInProgress } from '#server/leads/challenge-in-progress.ts';
import { attributionOf } from '#server/leads/attribution.ts';
import { pretendToRequestCode, requestCode, type RequestCodeParts } from '#server/leads/request-code.ts';
import { verifyCode } from '#server/leads/verify-code.ts';
import { API } from '#shared/api.ts';
import { HONEYPOT_FIELD, Lead, Verification } from '#shared/lead.ts';

const USER_AGENT_MAX_LENGTH = 500;

/** Adds the routes of the leads feature. */
export function addLeadRoutes(
  app: FastifyInstance,
  parts: RequestCodeParts & { readonly cookies: Cookies },
): void {
  const { cookies } = parts;

  app.post(API.leads, async (request, reply) => {
    const parsed = Lead.safeParse(request.body);
    if (!parsed.success) return sendInvalidInput(reply, parsed.error);
    const browserId = cookies.readBrowserId(request) ?? newBrowserId();

    const outcome = isRobot(request.body)
      ? pretendToRequestCode(parts)
      : await requestCode(parts, parsed.data, {
          browserId,
          clientAddress: request.ip,
          userAgent: request.headers['user-agent']?.slice(0, USER_AGENT_MAX_LENGTH) ?? null,
          attribution: attributionOf(request.headers.referer),
        });
    if (outcome.type === 'refused') return sendError(reply, outcome.error, outcome);
    cookies.setBrowserId(reply, browserId);
    return sendJson(reply.code(202), outcome.requested);
  });

  app.post(API.verify, async (request, reply) => {
    const parsed = Verification.safeParse(request.body);
    if (!parsed.success) return sendInvalidInput(reply, parsed.error);
    const outcome = await verifyCode(parts, parsed.data, {
      browserId: cookies.readBrowserId(request),
      clientAddress: request.ip,
    });
    if (outcome.type === 'refused') {
      return sendError(reply, outcome.error, 'retryAfterSeconds' in outcome ? outcome : {});
    }
    cookies.openSession(reply, outcome.leadId, parts.clock());
    return sendJson(reply, { verified: true });
  });

  app.get<{ Querystring: { id?: unknown } }>(API.challenge, async (request, reply) => {
    const browserId = cookies.readBrowserId(request);
    const id = typeof request.query.id === 'string' ? request.query.id : undefined;
    const open = browserId === null ? null : await findChallengeInProgress(parts, browserId, id);
    // "None" is an answer, not an error: the page asks on every reload of the code screen.
    return open === null ? reply.code(204).header('cache-control', 'no-store').send() : sendJson(reply, open);
  });
}

const sendJson = (reply: FastifyReply, body: object): FastifyReply =>
  reply.header('cache-control', 'no-store').send(body);

/** The first complaint is the sentence; the generic ones of the specification name their field as well. */
function sendInvalidInput(reply: FastifyReply, error: z.core.$ZodError): FastifyReply {
  const [issue] = error.issues;
  const field = issue?.path[0];
  const generic = issue?.message === 'Required' || issue?.message === 'Invalid input';
  const sentence =
    issue === undefined || (generic && field === undefined)
      ? {}
      : { sentence: generic ? `${issue.message}: please check the field ${String(field)}.` : issue.message };
  return sendError(reply, 'invalid-input', sentence);
}

const isRobot = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && HONEYPOT_FIELD in body && body[HONEYPOT_FIELD] !== '';

// The call with which a browser tells that the form was opened, or how far the article was read.
import type { FastifyInstance } from 'fastify';
import * as z from 'zod/mini';

import { dropRequest } from '#server/http/visitor-address.ts';
import { createNetworkLimit } from '#server/platform/network-limit.ts';
import { TELLS_FROM_NETWORK } from '#server/settings/tries-and-rates.ts';
import type { VisitorContext } from '#server/visitors/visitor-context.ts';
import { API } from '#shared/api.ts';
import { TOLD_STEPS } from '#shared/funnel.ts';

/** What the page tells. It holds no other field, so that nobody can be meant. */
const Told = z.strictObject({ step: z.enum(TOLD_STEPS) });
/** The longest body there is takes a tenth of it. */
const BODY_LIMIT_BYTES = 256;

/** Adds it. 204 whether it is counted or not; errors: 400 `invalid-input`, 429 `too-many-requests`. */
export function addFunnelRoute(app: FastifyInstance, context: VisitorContext): void {
  const { funnel, visitorAddress, clock, metrics, sendError } = context;
  const countUpTo = createNetworkLimit(TELLS_FROM_NETWORK);
  app.post(API.funnel, { bodyLimit: BODY_LIMIT_BYTES }, async (request, reply) => {
    const told = Told.safeParse(request.body);
    if (!told.success) return sendError(reply, 'invalid-input');
    const clientAddress = visitorAddress(request);
    if (clientAddress === null) return dropRequest(reply);
    const outcome = countUpTo(clientAddress, clock());
    if (outcome.type === 'exceeded') {
      metrics.limitHit('too-many-requests');
      return sendError(reply, 'too-many-requests', outcome);
    }
    funnel.told(told.data.step, request.headers);
    return reply.code(204).header('cache-control', 'no-store').send();
  });
}

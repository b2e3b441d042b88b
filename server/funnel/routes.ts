// A browser reports that the form was opened, or how far the article was read.
import type { FastifyInstance } from 'fastify';
import * as z from 'zod/mini';

import type { Campaign } from '#server/campaign/campaign.ts';
import type { Http } from '#server/http/http.ts';
import type { Metrics } from '#server/log/metrics.ts';
import { createNetworkLimit } from '#server/platform/ip-addresses.ts';
import { REPORTS_FROM_NETWORK } from '#server/settings/fixed-limits.ts';
import { dropRequest } from '#server/http/visitor-address.ts';
import type { FunnelCounter } from '#server/funnel/counter.ts';
import { API } from '#shared/api.ts';
import { FIRST_SEEN, REPORTED_STEPS } from '#shared/funnel.ts';

/** No other field, so a report cannot name a person. */
const Report = z.strictObject({ step: z.enum(REPORTED_STEPS) });
const VariantReport = z.strictObject({
  step: z.enum([FIRST_SEEN, ...REPORTED_STEPS]),
  variant: z.optional(z.string()),
});
/** Ten times the longest valid body. */
const BODY_LIMIT_BYTES = 256;

type FunnelRouteParts = Pick<Http, 'visitorAddress' | 'sendError'> & {
  readonly funnel: Pick<FunnelCounter, 'stepReported'>;
  readonly campaign: Pick<Campaign, 'variants'>;
  readonly clock: () => number;
  readonly metrics: Pick<Metrics, 'limitHit'>;
};

/** Answers 204 whether it is counted or not; errors: 400 `invalid-input`, 429 `too-many-requests`. */
export function addFunnelRoute(
  app: FastifyInstance,
  { funnel, campaign, visitorAddress, clock, metrics, sendError }: FunnelRouteParts,
): void {
  const Taken: z.ZodMiniType<z.infer<typeof VariantReport>> =
    campaign.variants.length === 0 ? Report : VariantReport;
  const countUpTo = createNetworkLimit(REPORTS_FROM_NETWORK);
  app.post(API.funnel, { bodyLimit: BODY_LIMIT_BYTES }, async (request, reply) => {
    const report = Taken.safeParse(request.body);
    if (!report.success) return sendError(reply, 'invalid-input');
    const clientAddress = visitorAddress(request);
    if (clientAddress === null) return dropRequest(reply);
    const outcome = countUpTo(clientAddress, clock());
    if (outcome.type === 'exceeded') {
      metrics.limitHit('too-many-requests');
      return sendError(reply, 'too-many-requests', outcome);
    }
    const { step, variant } = report.data;
    funnel.stepReported(step, request.headers, variant);
    return reply.code(204).header('cache-control', 'no-store').send();
  });
}

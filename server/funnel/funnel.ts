// Counts in bounded memory and writes every few seconds. No identifier, IP address or user agent is stored.
import type { IncomingHttpHeaders } from 'node:http';

import type { FastifyInstance } from 'fastify';
import { isbot } from 'isbot';
import * as z from 'zod/mini';

import { attributionOf, OTHERS, shownSource, sourceOf } from '#server/attribution/attribution.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import {
  addFunnelCounts,
  addVariantCounts,
  type FunnelCount,
  type VariantCount,
} from '#server/db/tables/counts.ts';
import type { Http } from '#server/http/http.ts';
import { dropRequest } from '#server/http/visitor-address.ts';
import type { Metrics } from '#server/log/metrics.ts';
import { oneAtATime } from '#server/platform/background-work.ts';
import { createNetworkLimit } from '#server/platform/network-limit.ts';
import { REPORTS_FROM_NETWORK } from '#server/settings/fixed-limits.ts';
import type { Config } from '#server/settings/settings.ts';
import { API } from '#shared/api.ts';
import { dayOf } from '#shared/days.ts';
import {
  FIRST_SEEN,
  type FunnelStep,
  readTouch,
  REPORTED_STEPS,
  type ReportedStep,
  variantAskedFor,
  type VariantStep,
} from '#shared/funnel.ts';

export type FunnelCounter = {
  readonly pageSeen: (request: {
    readonly url?: string | undefined;
    readonly headers: IncomingHttpHeaders;
  }) => void;
  readonly stepReported: (
    step: ReportedStep | VariantStep,
    headers: IncomingHttpHeaders,
    variant?: string,
  ) => void;
  readonly write: () => Promise<void>;
};

/** Maximum number of sources with separate rows per day and step. Further sources are counted together. */
const MAX_SOURCES = 200;
/** Maximum number of counts in memory. */
const MAX_COUNTS = 5_000;
const USER_AGENT_MAX_LENGTH = 500;
const REFERRER_MAX_LENGTH = 500;
const URL_MAX_LENGTH = 1_000;

export function createFunnelCounter({
  database,
  clock,
  config: { publicUrl, funnelCounting, timeZone },
  variants = [],
}: {
  readonly database: OpenDatabase;
  readonly clock: () => number;
  readonly config: Pick<Config, 'publicUrl' | 'funnelCounting' | 'timeZone'>;
  readonly variants?: readonly string[];
}): FunnelCounter {
  /** Links from here are not sources. */
  const ownHost = new URL(publicUrl).host;
  const counts = new Map<string, FunnelCount>();
  const variantCounts = new Map<string, VariantCount>();

  const addCount = (added: FunnelCount): void => {
    const { day, step } = added;
    const keyOf = (name: string) => [day, step, name].join();
    const source = counts.size < MAX_COUNTS || counts.has(keyOf(added.source)) ? added.source : OTHERS;
    const previous = counts.get(keyOf(source))?.count ?? 0;
    counts.set(keyOf(source), { day, step, source, count: previous + added.count });
  };

  const addVariantCount = (added: VariantCount): void => {
    const key = [added.day, added.step, added.variant].join();
    variantCounts.set(key, { ...added, count: (variantCounts.get(key)?.count ?? 0) + added.count });
  };

  const today = () => dayOf(clock(), timeZone);
  const isCounted = (userAgent: string | null): boolean =>
    funnelCounting && userAgent !== null && !isbot(userAgent);
  // Copies the source, because in V8 a substring keeps the whole URL in memory.
  const count = (step: FunnelStep, source: string) =>
    addCount({ day: today(), step, source: Buffer.from(shownSource(source)).toString(), count: 1 });

  async function writeCounts(): Promise<void> {
    const [unwritten, unwrittenOfVariants] = [[...counts.values()], [...variantCounts.values()]];
    counts.clear();
    variantCounts.clear();
    try {
      if (unwritten.length > 0)
        await addFunnelCounts(database.db, unwritten, { maxSources: MAX_SOURCES, others: OTHERS });
      unwritten.length = 0;
      await addVariantCounts(database.db, unwrittenOfVariants);
    } catch (error) {
      for (const added of unwritten) addCount(added);
      for (const added of unwrittenOfVariants) addVariantCount(added);
      throw error;
    }
  }

  return {
    pageSeen: ({ url = '', headers }) => {
      if (!isPageView(headers) || !isCounted(countableUserAgent(headers))) return;
      // A preview of a variant, or a second request for the variant that the browser already has.
      if (variants.length > 0 && variantAskedFor(url) !== null) return;
      const referrer = headers.referer?.slice(0, REFERRER_MAX_LENGTH) ?? '';
      const touch = touchOf(url.slice(0, URL_MAX_LENGTH), referrer, [ownHost, headers.host ?? '']);
      count('seen', sourceOf(touch));
    },
    stepReported: (step, headers, variant = '') => {
      if (!isCounted(countableUserAgent(headers))) return;
      // First views are reported only for variants; pageSeen counts all views.
      if (step !== FIRST_SEEN) count(step, sourceOf(attributionOf(headers)));
      if (variants.includes(variant)) addVariantCount({ day: today(), step, variant, count: 1 });
    },
    // At a stop, waits for the current write and then writes the remaining counts.
    write: oneAtATime(writeCounts),
  };
}

/** Returns the user agent; null if absent or if the visitor sent Global Privacy Control or Do Not Track. */
const countableUserAgent = (headers: IncomingHttpHeaders): string | null =>
  headers['sec-gpc'] === '1' || headers['dnt'] === '1'
    ? null
    : headers['user-agent']?.slice(0, USER_AGENT_MAX_LENGTH) || null;

/** False for prefetches and previews by the browser, and for requests for frames or data. */
const isPageView = (headers: IncomingHttpHeaders): boolean =>
  ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].every((name) => headers[name] === undefined) &&
  (headers['sec-fetch-dest'] ?? 'document') === 'document';

function touchOf(url: string, referrer: string, ownHosts: readonly string[]): ReturnType<typeof readTouch> {
  const query = url.indexOf('?');
  const parameters = new URLSearchParams(query === -1 ? '' : url.slice(query));
  parameters.delete('referrer');
  const referrerHost = URL.parse(referrer)?.host ?? '';
  if (referrerHost !== '' && !ownHosts.includes(referrerHost)) parameters.set('referrer', referrerHost);
  return readTouch(parameters);
}

/** Unknown fields are refused, so a report cannot name a person. */
const Report = z.strictObject({
  step: z.enum([FIRST_SEEN, ...REPORTED_STEPS]),
  variant: z.optional(z.string()),
});
const BODY_LIMIT_BYTES = 256;

type FunnelRouteParts = Pick<Http, 'visitorAddress' | 'sendError'> & {
  readonly funnel: Pick<FunnelCounter, 'stepReported'>;
  readonly clock: () => number;
  readonly metrics: Pick<Metrics, 'limitHit'>;
};

/** Responds with 204 whether or not the report is counted. Errors: 400 `invalid-input`, 429 `too-many-requests`. */
export function addFunnelRoute(
  app: FastifyInstance,
  { funnel, visitorAddress, clock, metrics, sendError }: FunnelRouteParts,
): void {
  const countUpTo = createNetworkLimit(REPORTS_FROM_NETWORK);
  app.post(API.funnel, { bodyLimit: BODY_LIMIT_BYTES }, async (request, reply) => {
    const report = Report.safeParse(request.body);
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

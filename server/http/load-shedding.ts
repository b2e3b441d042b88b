// Answers 503 before the process drowns: a visitor who is told to wait comes back, one who hangs does not.
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { getHeapStatistics } from 'node:v8';

import { sendError } from '#server/http/errors.ts';
import { API } from '#shared/api.ts';

/** A loop that is this late on average over a second serves nobody well. */
const MAX_EVENT_LOOP_DELAY_MS = 1_000;
const MAX_HEAP_SHARE = 0.85;
/** More requests in hand than this wait for the database longer than a visitor waits for us. */
const MAX_IN_HAND = 1_000;
const RETRY_AFTER_SECONDS = 5;

export type LoadLimits = {
  /** Requests in hand. */
  readonly maxInHand: number;
  /** Milliseconds; 0: however late. */
  readonly maxEventLoopDelayMs: number;
};

const USUAL_LIMITS: LoadLimits = { maxInHand: MAX_IN_HAND, maxEventLoopDelayMs: MAX_EVENT_LOOP_DELAY_MS };

/** The two that have to tell about it. By the route: a monitor may add a query. */
const isProbe = ({ routeOptions }: FastifyRequest): boolean =>
  routeOptions.url === API.live || routeOptions.url === API.health;

/** Sheds load on everything but the probes of monitors. */
export async function addLoadShedding(
  app: FastifyInstance,
  { maxInHand, maxEventLoopDelayMs }: LoadLimits = USUAL_LIMITS,
): Promise<void> {
  await app.register(underPressure, {
    maxEventLoopDelay: maxEventLoopDelayMs,
    maxHeapUsedBytes: getHeapStatistics().heap_size_limit * MAX_HEAP_SHARE,
    pressureHandler: (request, reply) => {
      if (!isProbe(request)) sendError(reply, 'unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    },
  });

  // Counted once the body is there, and only for calls that need the database: whoever sends half a request, or reads a
  // film slowly, must not use up what others need.
  let inHand = 0;
  app.addHook('preHandler', async (request, reply) => {
    if (!request.url.startsWith('/api/') || isProbe(request)) return;
    inHand += 1;
    // "close" comes however a request ends: answered, refused or cut off.
    reply.raw.once('close', () => {
      inHand -= 1;
    });
    if (inHand > maxInHand) {
      return sendError(reply, 'unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
  });
}

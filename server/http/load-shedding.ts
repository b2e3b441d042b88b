// Answers 503 before the process is overloaded: a visitor who is asked to wait comes back, one whose request hangs does not.
import os from 'node:os';
import { getHeapStatistics } from 'node:v8';

import underPressure, { TYPE_EVENT_LOOP_DELAY, TYPE_RSS_BYTES } from '@fastify/under-pressure';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { SendError } from '#server/http/errors.ts';
import { API } from '#shared/api.ts';

/** Mean over a second. A loop this late serves no visitor well. */
const MAX_EVENT_LOOP_DELAY_MS = 1_000;
/** Between two looks at the loop and at memory. */
const LOOK_INTERVAL_MS = 1_000;
const START_IS_OVER_AFTER_MS = 5 * LOOK_INTERVAL_MS;
const MAX_HEAP_SHARE = 0.85;
/** Share of the memory the process may have. The rest is for growth between two looks, and for the system's cache. */
const MAX_RESIDENT_SHARE = 0.8;
/** Outside the heap lie code, buffers of connections, and memory of SQLite and TLS: 100 MB, and twice that under attack. */
const MAX_OUTSIDE_HEAP_BYTES = 512 * 1024 * 1024;
/** With more requests in hand than this, the last waits for the database longer than a visitor would wait for us. */
const MAX_IN_HAND = 1_000;
const RETRY_AFTER_SECONDS = 5;
const TOO_MUCH_MEMORY = 'This process holds more memory than it should. Please restart it.';

export type LoadLimits = {
  /** Requests in hand. */
  readonly maxInHand: number;
  /** Milliseconds; 0: no limit. */
  readonly maxEventLoopDelayMs: number;
  /** Resident memory; the default is {@link mostResidentBytes}. */
  readonly maxResidentBytes?: number;
};

const USUAL_LIMITS: LoadLimits = { maxInHand: MAX_IN_HAND, maxEventLoopDelayMs: MAX_EVENT_LOOP_DELAY_MS };

/** The two routes that report overload instead of suffering it. Compared by route, because a monitor may add a query. */
const isProbe = ({ routeOptions }: FastifyRequest): boolean =>
  routeOptions.url === API.live || routeOptions.url === API.health;

/**
 * How much memory the process should hold at most, heap and everything else. A share of what the container or the machine
 * gives, because beyond it the system kills the process, with all that is in hand; and on a large machine no more than the
 * heap's own limit and what can honestly lie outside it, because more than that is a leak.
 * @param machine what this process runs on, if not this one; bytes. `constrained`: the limit of its container, 0 or absurdly
 *   large when there is none
 */
export function mostResidentBytes({
  constrained = process.constrainedMemory(),
  total = os.totalmem(),
  heapLimit = getHeapStatistics().heap_size_limit,
}: {
  constrained?: number;
  total?: number;
  heapLimit?: number;
} = {}): number {
  const given = constrained > 0 ? Math.min(constrained, total) : total;
  return Math.min(given * MAX_RESIDENT_SHARE, heapLimit + MAX_OUTSIDE_HEAP_BYTES);
}

/** Sheds load on everything but the probes of monitors. */
export async function addLoadShedding(
  app: FastifyInstance,
  sendError: SendError,
  { maxInHand, maxEventLoopDelayMs, maxResidentBytes = mostResidentBytes() }: LoadLimits = USUAL_LIMITS,
): Promise<void> {
  // The first looks still measure the start, which may block the loop for longer than any load. It must not turn the first visitors
  // away. On a busy machine, as when one process replaces another, the start ends late, and so do the looks.
  let startIsOver = false;
  app.addHook('onReady', async () => {
    setTimeout(() => {
      startIsOver = true;
    }, START_IS_OVER_AFTER_MS).unref();
  });

  await app.register(underPressure, {
    sampleInterval: LOOK_INTERVAL_MS,
    maxEventLoopDelay: maxEventLoopDelayMs,
    maxHeapUsedBytes: getHeapStatistics().heap_size_limit * MAX_HEAP_SHARE,
    maxRssBytes: maxResidentBytes,
    pressureHandler: (request, reply, type) => {
      if (type === TYPE_EVENT_LOOP_DELAY && !startIsOver) return;
      if (!isProbe(request)) sendError(reply, 'unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS });
      // A late loop recovers. Only a restart frees memory outside the heap, so a balancer has to know of it.
      else if (type === TYPE_RSS_BYTES && request.routeOptions.url === API.health)
        sendError(reply, 'unavailable', {
          sentence: TOO_MUCH_MEMORY,
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
    },
  });

  // From the arrival of the body until the answer begins, and only for calls that need the database: half a request, or a guide or film
  // that is read slowly, must not take the place of others.
  const inHand = new Set<FastifyRequest>();
  app.addHook('preHandler', async (request, reply) => {
    if (!request.url.startsWith('/api/') || isProbe(request)) return;
    inHand.add(request);
    // Of a request that is cut off before its answer.
    reply.raw.once('close', () => inHand.delete(request));
    if (inHand.size > maxInHand) {
      return sendError(reply, 'unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
  });
  app.addHook('onSend', async (request) => {
    inHand.delete(request);
  });
}

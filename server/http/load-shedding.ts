// Responds with 503 before the process is overloaded: a visitor returns after being told to wait, but not after a request
// that hangs.
import os from 'node:os';
import { getHeapStatistics } from 'node:v8';

import underPressure, { TYPE_EVENT_LOOP_DELAY, TYPE_RSS_BYTES } from '@fastify/under-pressure';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { SendError } from '#server/http/errors.ts';
import { API } from '#shared/api.ts';

const SAMPLE_INTERVAL_MS = 1_000;
const STARTUP_MS = 5 * SAMPLE_INTERVAL_MS;
const MAX_HEAP_SHARE = 0.85;
/** Leaves the rest for growth between two samples and for the system's cache. */
const MAX_RESIDENT_SHARE = 0.8;
/** Code, connection buffers, SQLite and TLS use 100 MB, and twice that under attack. */
const MAX_OUTSIDE_HEAP_BYTES = 512 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 5;
const TOO_MUCH_MEMORY_SENTENCE = 'This process uses too much memory. Restart the server.';

export type LoadLimits = {
  readonly maxPending: number;
  /** 0 means no limit. */
  readonly maxEventLoopDelayMs: number;
  readonly maxResidentBytes?: number;
};

const DEFAULT_LIMITS: LoadLimits = { maxPending: 1_000, maxEventLoopDelayMs: 1_000 };

/**
 * Probes get a response during overload, too: health reports only memory that needs a restart. Compares the route, because a
 * monitor may add a query.
 */
const isProbe = ({ routeOptions }: FastifyRequest): boolean =>
  routeOptions.url === API.live || routeOptions.url === API.health;

/**
 * Returns the smaller of two limits: a share of the memory of the container or machine, beyond which the system kills the
 * process, and the heap limit plus a margin, beyond which there must be a leak.
 * @param machine replaced by tests; `constrained`: the container's limit in bytes, 0 or huge without one
 */
export function defaultMaxResidentBytes({
  constrained = process.constrainedMemory(),
  total = os.totalmem(),
  heapLimit = getHeapStatistics().heap_size_limit,
}: {
  constrained?: number;
  total?: number;
  heapLimit?: number;
} = {}): number {
  const available = constrained > 0 ? Math.min(constrained, total) : total;
  return Math.min(available * MAX_RESIDENT_SHARE, heapLimit + MAX_OUTSIDE_HEAP_BYTES);
}

export async function addLoadShedding(
  app: FastifyInstance,
  sendError: SendError,
  {
    maxPending,
    maxEventLoopDelayMs,
    maxResidentBytes = defaultMaxResidentBytes(),
  }: LoadLimits = DEFAULT_LIMITS,
): Promise<void> {
  const shed = (reply: FastifyReply, details = {}): FastifyReply =>
    sendError(reply, 'unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS, ...details });
  // Starting may block the event loop, so the first samples are ignored.
  let hasStarted = false;
  app.addHook('onReady', async () => {
    setTimeout(() => {
      hasStarted = true;
    }, STARTUP_MS).unref();
  });

  await app.register(underPressure, {
    sampleInterval: SAMPLE_INTERVAL_MS,
    maxEventLoopDelay: maxEventLoopDelayMs,
    maxHeapUsedBytes: getHeapStatistics().heap_size_limit * MAX_HEAP_SHARE,
    maxRssBytes: maxResidentBytes,
    // Unless it sends a response, the request continues.
    pressureHandler: (request, reply, type) => {
      if (type === TYPE_EVENT_LOOP_DELAY && !hasStarted) return;
      if (!isProbe(request)) shed(reply);
      // The event loop recovers from a delay, but only a restart frees memory outside the heap, so health must report it.
      else if (type === TYPE_RSS_BYTES && request.routeOptions.url === API.health)
        shed(reply, { sentence: TOO_MUCH_MEMORY_SENTENCE });
    },
  });

  // Requests count from the end of their body to the start of the response, so slow uploads and downloads don't block other
  // requests.
  const pending = new Set<FastifyRequest>();
  app.addHook('preHandler', async (request, reply) => {
    // Compares the route, because the path may be encoded (/%61pi/).
    if (request.routeOptions.url?.startsWith('/api/') !== true || isProbe(request)) return;
    pending.add(request);
    reply.raw.once('close', () => pending.delete(request));
    if (pending.size > maxPending) return shed(reply);
  });
  app.addHook('onSend', async (request) => {
    pending.delete(request);
  });
}

// Counts every response, and logs those from the API, limited per network and hour (LOG_LINES), so no stranger can fill the
// disk.
import type { IncomingMessage } from 'node:http';

import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifyServerOptions,
} from 'fastify';
import type { Logger } from 'pino';

import type { VisitorAddress } from '#server/http/visitor-address.ts';
import { createNetworkLimit } from '#server/platform/network-limit.ts';
import { MINUTE_MS } from '#server/platform/time.ts';
import { LOG_LINES } from '#server/settings/fixed-limits.ts';
import { API } from '#shared/api.ts';

export type CompletedRequest = {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
};

export function observeRequests(
  app: FastifyInstance,
  parts: {
    onCompleted: (request: CompletedRequest) => void;
    onPageSeen: (request: IncomingMessage) => void;
    fileAt: (url: string) => string | null;
  },
): void {
  const { onCompleted, onPageSeen, fileAt } = parts;
  const describeRequest = (request: FastifyRequest, reply: FastifyReply): CompletedRequest => ({
    method: request.method,
    route: request.routeOptions.url ?? fileAt(request.url) ?? 'unknown',
    status: reply.statusCode,
    ms: reply.elapsedTime,
  });
  // Counts before the response is sent, because a visitor who leaves meanwhile never completes it.
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (isPage(describeRequest(request, reply))) onPageSeen(request.raw);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const completed = describeRequest(request, reply);
    const { method, route, status, ms } = completed;
    if (isLogged(route, status)) request.log.info({ method, route, status, ms: Math.round(ms) });
    onCompleted(completed);
    done();
  });
}

const isPage = ({ method, route, status }: Omit<CompletedRequest, 'ms'>): boolean =>
  route === '/' && method === 'GET' && (status === 200 || status === 304);

/** Omits pages, files, funnel steps and health checks, because thousands of lines about them would hide the useful ones. */
function isLogged(route: string, status: number): boolean {
  if (route === API.funnel) return status >= 500;
  return status >= 400 || (route.startsWith('/api/') && route !== API.live && route !== API.health);
}

type ChildLoggerFactory = NonNullable<FastifyServerOptions['childLoggerFactory']>;

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
type Level = (typeof LEVELS)[number];

export type RequestLogParts = {
  readonly logger: Logger;
  readonly visitorAddress: VisitorAddress;
  readonly clock: () => number;
};

export function createRequestLogs({ logger, visitorAddress, clock }: RequestLogParts): {
  readonly childLoggerFactory: ChildLoggerFactory;
  readonly close: () => void;
} {
  const droppedLines = createMinuteLog<'lines'>(
    logger,
    ['lines'],
    'Some log lines of requests were dropped, because one network or all networks together exceeded the log limit. The metrics still count every request.',
  );
  const { ofNetwork, ofAll, windowMs, maxNetworks } = LOG_LINES;
  const countOfNetwork = createNetworkLimit({ max: ofNetwork, windowMs, maxNetworks });
  const countOfAll = createNetworkLimit({ max: ofAll, windowMs, maxNetworks: 1 });
  const hasRoom = (network: string, now: number): boolean =>
    countOfNetwork(network, now).type === 'allowed' && countOfAll(EVERYBODY, now).type === 'allowed';

  /** Creates the request's own logger with its first line, because most requests log nothing. */
  const createLimitedLogger = (
    parent: FastifyBaseLogger,
    createOwn: () => FastifyBaseLogger,
    request: Parameters<VisitorAddress>[0],
  ): FastifyBaseLogger => {
    let own: FastifyBaseLogger | undefined;
    const logAs =
      (level: Level) =>
      (...line: unknown[]): void => {
        if (!logger.isLevelEnabled(level)) return;
        if (!hasRoom(visitorAddress(request) ?? NOBODY, clock())) {
          droppedLines.note('lines');
          return;
        }
        own ??= createOwn();
        Reflect.apply(own[level], own, line);
      };
    return Object.assign(
      {
        level: parent.level,
        silent: () => {},
        child: (...child: Parameters<FastifyBaseLogger['child']>) =>
          createLimitedLogger(parent, () => (own ??= createOwn()).child(...child), request),
      },
      Object.fromEntries(LEVELS.map((level) => [level, logAs(level)])) as Pick<FastifyBaseLogger, Level>,
    );
  };

  return {
    childLoggerFactory: (parent, bindings, options, request) =>
      createLimitedLogger(parent, () => parent.child(bindings, options), request),
    close: droppedLines.close,
  };
}

/** Limit keys for all networks together, and for visitors who disconnected early. */
const EVERYBODY = 'everybody';
const NOBODY = 'nobody';

/** Logs events that strangers can trigger at will: the first one immediately, then a count once a minute. */
export function createMinuteLog<Kind extends string>(
  logger: { readonly warn: (counts: object, sentence: string) => void },
  kinds: readonly Kind[],
  sentence: string,
): { readonly note: (kind: Kind) => void; readonly close: () => void } {
  const noCounts = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>;
  let counts: Record<Kind, number> | null = null;
  let timer: NodeJS.Timeout | undefined;
  const writeCounts = (): void => {
    timer = undefined;
    if (counts === null) return;
    logger.warn(counts, sentence);
    counts = null;
    timer = setTimeout(writeCounts, MINUTE_MS).unref();
  };
  return {
    note: (kind) => {
      counts ??= { ...noCounts };
      counts[kind] += 1;
      if (timer === undefined) writeCounts();
    },
    close: () => clearTimeout(timer),
  };
}

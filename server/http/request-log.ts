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

export type Answered = {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
};

export function noteAnswers(
  app: FastifyInstance,
  parts: {
    onAnswered: (answered: Answered) => void;
    onPageSeen: (request: IncomingMessage) => void;
    fileAt: (url: string) => string | null;
  },
): void {
  const { onAnswered, onPageSeen, fileAt } = parts;
  const answerOf = (request: FastifyRequest, reply: FastifyReply): Answered => ({
    method: request.method,
    route: request.routeOptions.url ?? fileAt(request.url) ?? 'unknown',
    status: reply.statusCode,
    ms: reply.elapsedTime,
  });
  // Counted before the response is sent, because it never ends if the visitor leaves meanwhile.
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (isPage(answerOf(request, reply))) onPageSeen(request.raw);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const answered = answerOf(request, reply);
    const { method, route, status, ms } = answered;
    if (isLogged(route, status)) request.log.info({ method, route, status, ms: Math.round(ms) });
    onAnswered(answered);
    done();
  });
}

const isPage = ({ method, route, status }: Omit<Answered, 'ms'>): boolean =>
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
  const { ofNetwork, ofAll, windowMs, mostNetworks } = LOG_LINES;
  const countOfNetwork = createNetworkLimit({ most: ofNetwork, windowMs, mostNetworks });
  const countOfAll = createNetworkLimit({ most: ofAll, windowMs, mostNetworks: 1 });
  const hasRoom = (network: string, now: number): boolean =>
    countOfNetwork(network, now).type === 'allowed' && countOfAll(EVERYBODY, now).type === 'allowed';

  /** Makes the request's own logger at its first line, because most requests log none. */
  const limited = (
    parent: FastifyBaseLogger,
    makeOwn: () => FastifyBaseLogger,
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
        own ??= makeOwn();
        Reflect.apply(own[level], own, line);
      };
    return Object.assign(
      {
        level: parent.level,
        silent: () => {},
        child: (...child: Parameters<FastifyBaseLogger['child']>) =>
          limited(parent, () => (own ??= makeOwn()).child(...child), request),
      },
      Object.fromEntries(LEVELS.map((level) => [level, logAs(level)])) as Pick<FastifyBaseLogger, Level>,
    );
  };

  return {
    childLoggerFactory: (parent, bindings, options, request) =>
      limited(parent, () => parent.child(bindings, options), request),
    close: droppedLines.close,
  };
}

/** Limit keys for all networks together, and for visitors who disconnected early. */
const EVERYBODY = 'everybody';
const NOBODY = 'nobody';

/** Logs events that strangers can trigger at will: the first one immediately, then a count once a minute. */
export function createMinuteLog<What extends string>(
  logger: { readonly warn: (counts: object, sentence: string) => void },
  kinds: readonly What[],
  sentence: string,
): { readonly note: (what: What) => void; readonly close: () => void } {
  const none = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<What, number>;
  let counts: Record<What, number> | null = null;
  let minute: NodeJS.Timeout | undefined;
  const writeCounts = (): void => {
    minute = undefined;
    if (counts === null) return;
    logger.warn(counts, sentence);
    counts = null;
    minute = setTimeout(writeCounts, MINUTE_MS).unref();
  };
  return {
    note: (what) => {
      counts ??= { ...none };
      counts[what] += 1;
      if (minute === undefined) writeCounts();
    },
    close: () => clearTimeout(minute),
  };
}

// Limits log lines per network and hour (LOG_LINES), so that no stranger can fill the disk. Further lines are
// counted. Refused requests have a separate budget.
import type { FastifyBaseLogger, FastifyServerOptions } from 'fastify';
import type { Logger } from 'pino';

import type { VisitorAddress } from '#server/http/visitor-address.ts';
import { createNetworkLimit } from '#server/platform/network-limit.ts';
import { LOG_LINES } from '#server/settings/fixed-limits.ts';
import { createMinuteLog } from '#server/platform/minute-log.ts';

type Kind = 'answered' | 'refused' | 'failed';

type ChildLoggerFactory = NonNullable<FastifyServerOptions['childLoggerFactory']>;

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
type Level = (typeof LEVELS)[number];

export type RequestLogParts = {
  /** The parent of all request loggers; also reports how many lines were dropped. */
  readonly logger: Logger;
  readonly visitorAddress: VisitorAddress;
  readonly clock: () => number;
};

export function createRequestLogs({ logger, visitorAddress, clock }: RequestLogParts): {
  readonly childLoggerFactory: ChildLoggerFactory;
  readonly close: () => void;
} {
  const leftOut = createMinuteLog<Kind>(
    logger,
    ['answered', 'refused', 'failed'],
    'Log lines of requests were dropped: one network, or all together, exceeded the limit of the log. Metrics count every request.',
  );
  const limitTo = (mostOfNetwork: number, mostOfAll: number) => {
    const { windowMs, mostNetworks } = LOG_LINES;
    const countOfNetwork = createNetworkLimit({ most: mostOfNetwork, windowMs, mostNetworks });
    const countOfAll = createNetworkLimit({ most: mostOfAll, windowMs, mostNetworks: 1 });
    return (address: string, now: number): boolean =>
      countOfNetwork(address, now).type === 'allowed' && countOfAll(EVERYBODY, now).type === 'allowed';
  };
  const hasRoom: Readonly<Record<Kind, ReturnType<typeof limitTo>>> = {
    answered: limitTo(LOG_LINES.answered, Infinity),
    refused: limitTo(LOG_LINES.refusedOrFailed, LOG_LINES.refusedOrFailedOfAll),
    failed: limitTo(LOG_LINES.refusedOrFailed, LOG_LINES.refusedOrFailedOfAll),
  };

  const bounded = (
    parent: FastifyBaseLogger,
    makeOwn: () => FastifyBaseLogger,
    request: Parameters<VisitorAddress>[0],
  ): FastifyBaseLogger => {
    let own: FastifyBaseLogger | undefined;
    const logAs =
      (level: Level) =>
      (...line: unknown[]): void => {
        if (!logger.isLevelEnabled(level)) return;
        const kind = kindOf(level, line[0]);
        if (!hasRoom[kind](visitorAddress(request) ?? NOBODY, clock())) {
          leftOut.note(kind);
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
          bounded(parent, () => (own ??= makeOwn()).child(...child), request),
      },
      Object.fromEntries(LEVELS.map((level) => [level, logAs(level)])) as Pick<FastifyBaseLogger, Level>,
    );
  };

  return {
    childLoggerFactory: (parent, bindings, options, request) =>
      bounded(parent, () => parent.child(bindings, options), request),
    close: leftOut.close,
  };
}

/** Keys for all networks together, and for visitors who disconnected early. */
const EVERYBODY = 'everybody';
const NOBODY = 'nobody';

function kindOf(level: Level, first: unknown): Kind {
  const status =
    typeof first === 'object' && first !== null && 'status' in first ? Number(first.status) : 200;
  if (level === 'warn' || level === 'error' || level === 'fatal' || status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'answered';
}

// Limits the log lines of requests. A stranger can send any number of requests, so each network gets a number of lines an hour
// (LOG_LINES); further lines are counted and left out, and no stranger fills the disk of the log. Refused requests take no room from
// those that were answered or failed.
import type { FastifyBaseLogger, FastifyServerOptions } from 'fastify';
import type { Logger } from 'pino';

import type { VisitorAddress } from '#server/http/visitor-address.ts';
import { createNetworkLimit } from '#server/platform/network-limit.ts';
import { LOG_LINES } from '#server/settings/fixed-limits.ts';
import { createMinuteLog } from '#server/platform/minute-log.ts';

/** What became of the request that a line is about. */
type Kind = 'answered' | 'refused' | 'failed';

type ChildLoggerFactory = NonNullable<FastifyServerOptions['childLoggerFactory']>;

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
type Level = (typeof LEVELS)[number];

export type RequestLogParts = {
  /** The parent of all loggers of requests. It also says how many lines were left out. */
  readonly logger: Logger;
  readonly visitorAddress: VisitorAddress;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
};

/** Makes the loggers of requests (Fastify's `request.log`). */
export function createRequestLogs({ logger, visitorAddress, clock }: RequestLogParts): {
  readonly childLoggerFactory: ChildLoggerFactory;
  readonly close: () => void;
} {
  const leftOut = createMinuteLog<Kind>(
    logger,
    ['answered', 'refused', 'failed'],
    'Lines about requests were left out: one network, or all together, had more than the log has room for. Metrics count every request.',
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
    // Most requests log nothing.
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

/** Names that stand for an address: for all networks together, and for visitors who had hung up before we looked. */
const EVERYBODY = 'everybody';
const NOBODY = 'nobody';

/** By the status in the line. A warning or an error is a failure in any case. */
function kindOf(level: Level, first: unknown): Kind {
  const status =
    typeof first === 'object' && first !== null && 'status' in first ? Number(first.status) : 200;
  if (level === 'warn' || level === 'error' || level === 'fatal' || status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'answered';
}

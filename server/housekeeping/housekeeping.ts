import type { Logger } from 'pino';

import { createSealer, type SealerParts } from '#server/consent/sealer.ts';
import { createExpiredRowDeleter } from '#server/housekeeping/expired-row-deleter.ts';
import { createNewLeadNews } from '#server/housekeeping/new-lead-news.ts';
import type { Metrics } from '#server/log/metrics.ts';
import { startWakeLoop } from '#server/platform/background-work.ts';
import { HOUR_MS } from '#server/platform/time.ts';
import type { Config } from '#server/settings/settings.ts';

const EXPIRY_MS = HOUR_MS;
const SEALING_MS = 5_000;
/** A killed process loses the counts since its last write. */
const COUNTING_MS = 5_000;
const NEWS_MS = 60_000;

type HousekeepingService = SealerParts & {
  readonly config: Config;
  readonly funnel: { readonly write: () => Promise<void> };
  readonly metrics: Pick<Metrics, 'expired'>;
  readonly logger: Logger;
};

/** @returns stop: prevents further rounds and does not wait for the current one, which can be cut off and repeated */
export function startHousekeeping(service: HousekeepingService): { readonly stop: () => void } {
  const { config, logger } = service;
  let stopping = false;
  const shouldStop = () => stopping;
  const warn = (sentence: string) => (error: unknown) => logger.warn({ err: error }, sentence);
  const loops = [
    startWakeLoop({
      pollMs: EXPIRY_MS,
      // Deletion also runs at the start, because a process restarted more often than hourly would otherwise never delete
      // anything.
      work: createExpiredRowDeleter({
        ...service,
        shouldStop,
        onExpired: (expired) => {
          logger.info({ expired }, 'Housekeeping deleted expired rows.');
          service.metrics.expired(expired);
        },
      }),
      onError: warn('Housekeeping failed and will run again soon.'),
    }),
    startWakeLoop({
      pollMs: SEALING_MS,
      restsFirst: true,
      work: createSealer(service, shouldStop),
      onError: warn('New consents could not be added to the chain. The server will try again soon.'),
    }),
    startWakeLoop({
      pollMs: COUNTING_MS,
      restsFirst: true,
      work: service.funnel.write,
      onError: warn('The visitor counts could not be stored. The server will try again soon.'),
    }),
  ];
  if (config.newLeadEmail !== 'off')
    loops.push(
      startWakeLoop({
        pollMs: NEWS_MS,
        work: createNewLeadNews({ ...service, shouldStop }),
        // A stop ends this work with an error (createNewLeadNews).
        onError: (error) => {
          if (!stopping)
            warn('The server could not queue the e-mail about new leads. It will try again soon.')(error);
        },
      }),
    );
  return {
    stop: () => {
      stopping = true;
      for (const loop of loops) void loop.stop();
    },
  };
}

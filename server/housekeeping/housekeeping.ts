import type { Logger } from 'pino';

import type { Metrics } from '#server/log/metrics.ts';
import { startWakeLoop } from '#server/platform/background-work.ts';
import { HOUR_MS } from '#server/platform/time.ts';
import type { Config } from '#server/settings/settings.ts';
import { createSealer, type SealerParts } from '#server/consent/sealer.ts';
import { createHousekeeping } from '#server/housekeeping/delete-expired-rows.ts';
import { createNewLeadNews } from '#server/housekeeping/new-lead-news.ts';

const HOUSEKEEPING_MS = HOUR_MS;
const SEALING_MS = 5_000;
/** A killed process loses its counts since the last write. */
const COUNTING_MS = 5_000;
const NEWS_MS = 60_000;

type UpkeepService = SealerParts & {
  readonly config: Config;
  readonly funnel: { readonly write: () => Promise<void> };
  readonly metrics: Pick<Metrics, 'expired'>;
  readonly logger: Logger;
};

/** @returns stop: starts no further round and does not wait; each round can be cut off and repeated */
export function startUpkeep(service: UpkeepService): { readonly stop: () => void } {
  const { config, logger } = service;
  let stopping = false;
  const shouldStop = () => stopping;
  const warn = (sentence: string) => (error: unknown) => logger.warn({ err: error }, sentence);
  const loops = [
    startWakeLoop({
      pollMs: HOUSEKEEPING_MS,
      // Also runs at the start: a process restarted more often than hourly would otherwise never delete
      // anything.
      work: createHousekeeping({
        ...service,
        shouldStop,
        onExpired: (expired) => {
          logger.info({ expired }, 'Housekeeping deleted expired rows.');
          service.metrics.expired(expired);
        },
      }),
      onError: warn('Housekeeping failed.'),
    }),
    startWakeLoop({
      pollMs: SEALING_MS,
      restsFirst: true,
      work: createSealer(service, shouldStop),
      onError: warn('Consents could not be sealed; this is retried soon.'),
    }),
    startWakeLoop({
      pollMs: COUNTING_MS,
      restsFirst: true,
      work: service.funnel.write,
      onError: warn('Counts could not be written yet.'),
    }),
  ];
  if (config.newLeadEmail !== 'off')
    loops.push(
      startWakeLoop({
        pollMs: NEWS_MS,
        work: createNewLeadNews({ ...service, shouldStop }),
        onError: (error) => {
          if (!stopping) warn('The e-mail about new leads could not be queued; this is retried soon.')(error);
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

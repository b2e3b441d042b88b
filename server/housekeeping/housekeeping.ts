import { setTimeout } from 'node:timers/promises';

import type { Logger } from 'pino';

import { createSealer, type SealerParts } from '#server/consent/sealer.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { type Expired, type ExpiringTable, expirySteps, runStep } from '#server/db/queries/expiry.ts';
import { deleteUnusedDomains } from '#server/db/tables/mail-domains.ts';
import { createDigestQueuer } from '#server/housekeeping/lead-digests.ts';
import type { Metrics } from '#server/log/metrics.ts';
import { createThrottle, startWakeLoop } from '#server/platform/background-work.ts';
import { DAY_MS, HOUR_MS } from '#server/platform/time.ts';
import type { Config } from '#server/settings/settings.ts';

const EXPIRY_INTERVAL_MS = HOUR_MS;
const SEALING_INTERVAL_MS = 5_000;
/** A killed process loses the counts since its last write. */
const COUNTING_INTERVAL_MS = 5_000;
const DIGEST_INTERVAL_MS = 60_000;

type HousekeepingService = SealerParts & {
  readonly config: Config;
  readonly funnel: { readonly write: () => Promise<void> };
  readonly metrics: Pick<Metrics, 'expired'>;
  readonly logger: Logger;
};

/** @returns stop: prevents further rounds without waiting for the current one, which can be cut off and repeated */
export function startHousekeeping(service: HousekeepingService): { readonly stop: () => void } {
  const { config, logger } = service;
  let stopping = false;
  const shouldStop = () => stopping;
  const warn = (sentence: string) => (error: unknown) => {
    // A stop cuts off a round by an error, because it closes the database.
    if (!stopping) logger.warn({ err: error }, sentence);
  };
  const loops = [
    startWakeLoop({
      pollMs: EXPIRY_INTERVAL_MS,
      // Also runs at start, because a process restarted more often than hourly would otherwise never delete anything.
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
      pollMs: SEALING_INTERVAL_MS,
      work: createSealer(service, shouldStop),
      onError: warn('New consents could not be added to the chain. The server will try again soon.'),
    }),
    startWakeLoop({
      pollMs: COUNTING_INTERVAL_MS,
      work: service.funnel.write,
      onError: warn('The visitor counts could not be stored. The server will try again soon.'),
    }),
  ];
  if (config.newLeadEmail !== 'off')
    loops.push(
      startWakeLoop({
        pollMs: DIGEST_INTERVAL_MS,
        work: createDigestQueuer({ ...service, shouldStop }),
        onError: warn('The server could not queue the e-mail about new leads. It will try again soon.'),
      }),
    );
  return {
    stop: () => {
      stopping = true;
      for (const loop of loops) void loop.stop();
    },
  };
}

/** Two years, so this year can be compared with the previous one. */
const FUNNEL_DAYS = 731;
const BATCH_SIZE = 500;
const WAL_ATTEMPTS = 20;
const WAL_RETRY_MS = 50;

export type ExpiredRowDeleterParts = {
  readonly database: OpenDatabase;
  readonly config: Pick<Config, 'retention'>;
  readonly clock: () => number;
  readonly onExpired: (expired: Expired) => void;
  readonly shouldStop?: () => boolean;
};

/**
 * Deletes expired rows in transactions so small that no request waits for them. Deleted rows stay readable in SQLite's
 * write-ahead log (WAL) until it is truncated. On PostgreSQL, only one process at a time deletes.
 * @returns a function whose runs must not overlap. It throws database errors
 */
export function createExpiredRowDeleter({
  database,
  config,
  clock,
  onExpired,
  shouldStop = () => false,
}: ExpiredRowDeleterParts): () => Promise<void> {
  const { unverifiedDays, mailDays } = config.retention;
  let domainsCheckedAt = 0;
  let walHoldsDeletedRows = false;

  const deleteExpired = async (expired: Expired): Promise<void> => {
    const now = clock();
    const pause = createThrottle();
    // 0 days mean forever.
    const daysAgo = (days: number) => (days === 0 ? null : now - days * DAY_MS);
    const cutoffs = {
      unverified: daysAgo(unverifiedDays),
      mail: daysAgo(mailDays),
      windows: now,
      funnel: now - FUNNEL_DAYS * DAY_MS,
    };
    for (const step of expirySteps(cutoffs)) {
      for (;;) {
        if (shouldStop()) return;
        const outcome = await runStep(database.db, step, BATCH_SIZE);
        if (outcome === null) return;
        for (const [table, count] of Object.entries(outcome.deleted) as [ExpiringTable, number][])
          if (count > 0) expired[table] = (expired[table] ?? 0) + count;
        await pause();
        if (outcome.done) break;
      }
    }
    // A clock that was ahead must not delay the next check.
    if (Math.abs(now - domainsCheckedAt) < DAY_MS) return;
    const unused = await deleteUnusedDomains(database.db, shouldStop, pause);
    if (unused > 0) expired.mail_domains = unused;
    domainsCheckedAt = now;
  };

  const truncateWal = async (): Promise<void> => {
    for (let attempts = 0; walHoldsDeletedRows && attempts < WAL_ATTEMPTS && !shouldStop(); attempts += 1) {
      if (attempts > 0) await setTimeout(WAL_RETRY_MS);
      if (!shouldStop()) walHoldsDeletedRows = !database.truncateWal();
    }
  };

  return async () => {
    const expired: Expired = {};
    try {
      await deleteExpired(expired);
    } finally {
      if (Object.keys(expired).length > 0) {
        walHoldsDeletedRows = true;
        onExpired(expired);
      }
    }
    await truncateWal();
  };
}

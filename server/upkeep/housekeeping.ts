// Lets go of what has had its time: a little at a time, each in a transaction of its own, so that nobody waits for it.
// Several processes may do it at once; on PostgreSQL one of them does, and the others leave it to that one.
import { setImmediate, setTimeout } from 'node:timers/promises';

import { DAY_MS } from '#server/platform/time.ts';
import type { Config } from '#server/settings/settings.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { expirySteps, newPlace, takeStep, type ExpiringTable } from '#server/db/across/personal-data.ts';

/** How long the funnel's counts are kept: this year can be compared with the one before. */
const FUNNEL_DAYS = 731;
/** Rows deleted at once: some milliseconds. */
const AT_ONCE = 500;
/** Tries to empty SQLite's log, between the commits of others; the next call goes on. */
const LOG_TRIES = 20;
const LOG_EVERY_MS = 50;

/** How many rows of which tables went; those of which none did are missing. */
export type Expired = Partial<Record<ExpiringTable, number>>;

export type HousekeepingParts = {
  readonly database: OpenDatabase;
  readonly config: Pick<Config, 'retention'>;
  readonly clock: () => number;
  /** Told what went, also when an error came after. */
  readonly onExpired: (expired: Expired) => void;
  /** Asked between two steps: a process that ends does not wait for it. */
  readonly shouldStop?: () => boolean;
  /** At most so many rows in a transaction; for tests. */
  readonly atOnce?: number;
};

/**
 * Makes the housekeeping of one process. Each call goes through everything once; a call while another one is at it does
 * nothing. Throws what the database said.
 */
export function createHousekeeping({
  database,
  config,
  clock,
  onExpired,
  shouldStop = () => false,
  atOnce = AT_ONCE,
}: HousekeepingParts): () => Promise<void> {
  const { unverifiedDays, mailDays } = config.retention;
  const place = newPlace();
  let isRunning = false;
  /** Something was deleted since the log was empty. */
  let isInLog = false;

  const goThrough = async (expired: Expired): Promise<void> => {
    const now = clock();
    const daysAgo = (days: number) => (days === 0 ? null : now - days * DAY_MS);
    const cutoffs = {
      unverified: daysAgo(unverifiedDays),
      mail: daysAgo(mailDays),
      windows: now,
      funnel: now - FUNNEL_DAYS * DAY_MS,
    };
    for (const step of expirySteps(cutoffs, place)) {
      for (;;) {
        if (shouldStop()) return;
        const outcome = await takeStep(database, step, atOnce);
        if (outcome === null) return;
        if (outcome.deleted > 0) expired[step.table] = (expired[step.table] ?? 0) + outcome.deleted;
        // Others have their turn.
        await setImmediate();
        if (outcome.done) break;
      }
    }
  };

  const emptyLog = async (): Promise<void> => {
    for (let tries = 0; isInLog && tries < LOG_TRIES && !shouldStop(); tries += 1) {
      if (tries > 0) await setTimeout(LOG_EVERY_MS);
      isInLog = !shouldStop() && !database.emptyLog();
    }
  };

  return async () => {
    if (isRunning) return;
    isRunning = true;
    const expired: Expired = {};
    try {
      await goThrough(expired).finally(() => {
        if (Object.keys(expired).length === 0) return;
        isInLog = true;
        onExpired(expired);
      });
      await emptyLog();
    } finally {
      isRunning = false;
    }
  };
}

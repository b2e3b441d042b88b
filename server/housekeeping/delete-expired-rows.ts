// Deletes expired rows in small transactions, so that no request waits for them. On PostgreSQL one process at
// a time does it.
import { setTimeout } from 'node:timers/promises';

import { createRests } from '#server/platform/background-work.ts';
import { DAY_MS } from '#server/platform/time.ts';
import type { Config } from '#server/settings/settings.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { expirySteps, takeStep, type Expired, type ExpiringTable } from '#server/db/queries/expiry.ts';
import { newDomainSearch } from '#server/db/tables/mail-domains.ts';

/** Two years, so this year can be compared with the previous one. */
const FUNNEL_DAYS = 731;
/** Rows per transaction, which takes some milliseconds. */
const BATCH_SIZE = 500;
/** Attempts per round to empty SQLite's log between commits. */
const LOG_TRIES = 20;
const LOG_EVERY_MS = 50;

export type HousekeepingParts = {
  readonly database: OpenDatabase;
  readonly config: Pick<Config, 'retention'>;
  readonly clock: () => number;
  readonly onExpired: (expired: Expired) => void;
  readonly shouldStop?: () => boolean;
};

/**
 * Returns one round of housekeeping; run one at a time.
 * @throws the database error
 */
export function createHousekeeping({
  database,
  config,
  clock,
  onExpired,
  shouldStop = () => false,
}: HousekeepingParts): () => Promise<void> {
  const { unverifiedDays, mailDays } = config.retention;
  const domains = newDomainSearch();
  let isInLog = false;

  const goThrough = async (expired: Expired): Promise<void> => {
    const now = clock();
    const rest = createRests();
    const daysAgo = (days: number) => (days === 0 ? null : now - days * DAY_MS);
    const cutoffs = {
      unverified: daysAgo(unverifiedDays),
      mail: daysAgo(mailDays),
      windows: now,
      funnel: now - FUNNEL_DAYS * DAY_MS,
    };
    for (const step of expirySteps(cutoffs, domains)) {
      for (;;) {
        if (shouldStop()) return;
        const outcome = await takeStep(database, step, BATCH_SIZE);
        if (outcome === null) return;
        for (const [table, count] of Object.entries(outcome.deleted) as [ExpiringTable, number][])
          if (count > 0) expired[table] = (expired[table] ?? 0) + count;
        await rest();
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
    const expired: Expired = {};
    await goThrough(expired).finally(() => {
      if (Object.keys(expired).length === 0) return;
      isInLog = true;
      onExpired(expired);
    });
    await emptyLog();
  };
}

import type { Expired } from '#server/db/queries/expiry.ts';
import { createExpiredRowDeleter } from '#server/housekeeping/housekeeping.ts';
import type { ServerUnderTest } from '#testing/server-under-test.ts';

export function housekeeperOf({
  database,
  config,
  now,
}: Pick<ServerUnderTest, 'database' | 'config' | 'now'>) {
  const reports: Expired[] = [];
  const runHousekeeping = createExpiredRowDeleter({
    database,
    config,
    clock: now,
    onExpired: (expired) => reports.push(expired),
  });
  return { reports, runHousekeeping };
}

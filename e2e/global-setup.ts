// Once for all browser tests: the built sites, and PostgreSQL, unless the environment names one.
import { DEFAULT_CAMPAIGN, ensureBuilt, GERMAN_CAMPAIGN, TEST_CAMPAIGN } from '#testing/built-site.ts';
import { POSTGRES_URL_VARIABLE } from '#testing/databases.ts';
import { startPostgres } from '#testing/postgres-server.ts';

export default async function globalSetup(): Promise<(() => Promise<void>) | undefined> {
  for (const campaign of [TEST_CAMPAIGN, DEFAULT_CAMPAIGN, GERMAN_CAMPAIGN]) ensureBuilt(campaign);
  if (process.env[POSTGRES_URL_VARIABLE]) return undefined;
  const postgres = await startPostgres();
  process.env[POSTGRES_URL_VARIABLE] = postgres.url;
  return postgres.stop;
}

// Once for all browser tests: a built site, and PostgreSQL, unless the environment names one.
import { ensureBuilt } from '#testing/built-site.ts';
import { POSTGRES_URL_VARIABLE } from '#testing/databases.ts';
import { startPostgres } from '#testing/postgres-server.ts';

export default async function globalSetup(): Promise<(() => Promise<void>) | undefined> {
  ensureBuilt();
  if (process.env[POSTGRES_URL_VARIABLE]) return undefined;
  const postgres = await startPostgres();
  process.env[POSTGRES_URL_VARIABLE] = postgres.url;
  return postgres.stop;
}

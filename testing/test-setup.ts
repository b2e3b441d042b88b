import { ensureBuilt, TEST_CAMPAIGN } from '#testing/built-site.ts';
import { makeTemplate, POSTGRES_URL_VARIABLE } from '#testing/databases.ts';
import { keepCompiled } from '#testing/environment.ts';
import { QUICK, startPostgres, type PostgresServer } from '#testing/postgres-server.ts';

let postgres: PostgresServer | null = null;

export async function globalSetup(): Promise<void> {
  ensureBuilt(TEST_CAMPAIGN);
  if (!process.env[POSTGRES_URL_VARIABLE]) {
    postgres = await startPostgres(...QUICK);
    process.env[POSTGRES_URL_VARIABLE] = postgres.url;
  }
  await makeTemplate();
  keepCompiled();
}

export async function globalTeardown(): Promise<void> {
  await postgres?.stop();
}

// Runs once before all test files of "node --test": PostgreSQL and a built site for everybody.
import path from 'node:path';

import { ensureBuilt, TEST_CAMPAIGN } from '#testing/built-site.ts';
import { makeTemplate, POSTGRES_URL_VARIABLE } from '#testing/databases.ts';
import { QUICK, startPostgres, type PostgresServer } from '#testing/postgres-server.ts';

const COMPILED = path.resolve(import.meta.dirname, '..', 'node_modules', '.cache', 'tests');

let postgres: PostgresServer | null = null;

export async function globalSetup(): Promise<void> {
  ensureBuilt(TEST_CAMPAIGN);
  if (!process.env[POSTGRES_URL_VARIABLE]) {
    postgres = await startPostgres({ settings: QUICK });
    process.env[POSTGRES_URL_VARIABLE] = postgres.url;
  }
  await makeTemplate();
  // Half a second for each file of tests, in which Node would translate and compile the same modules again.
  process.env['NODE_COMPILE_CACHE'] ??= COMPILED;
}

export async function globalTeardown(): Promise<void> {
  await postgres?.stop();
}

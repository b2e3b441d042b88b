// A fresh, migrated database for each test, on either engine.
import { randomBytes } from 'node:crypto';

import type { Config } from '#server/settings/settings.ts';
import { openDatabase, type DatabaseOptions, type OpenDatabase } from '#server/db/engine/connect.ts';
import { migrate } from '#server/db/migrations/migrate.ts';
import { onPostgres } from '#testing/postgres-server.ts';

export type Engine = 'sqlite' | 'postgres';

/** Set to `sqlite` by testing/run-logic.ts for test files that PostgreSQL need not run. */
export const ENGINES_VARIABLE = 'TEST_ENGINES';

/** The engines that the tests of this process run on. */
export const ENGINES: readonly Engine[] =
  process.env[ENGINES_VARIABLE] === 'sqlite' ? ['sqlite'] : ['sqlite', 'postgres'];

/** Set by the test commands' set-up (testing/test-setup.ts). */
export const POSTGRES_URL_VARIABLE = 'TEST_POSTGRES_URL';
/** Set by it too: a database there that is migrated and has no rows. To copy it takes a third of the time. */
const TEMPLATE_VARIABLE = 'TEST_POSTGRES_TEMPLATE';
/** Set as well when the server is to reach that PostgreSQL through a PgBouncer: its address (proofs/pgbouncer.ts). */
export const PGBOUNCER_URL_VARIABLE = 'TEST_PGBOUNCER_URL';

/** Why a test is skipped that is about PostgreSQL itself; false when it is reached directly. */
export const behindPgBouncer = (): string | false =>
  process.env[PGBOUNCER_URL_VARIABLE] ? 'about PostgreSQL itself, and a PgBouncer is in between' : false;

const serverUrl = (): string => {
  const url = process.env[POSTGRES_URL_VARIABLE];
  if (!url)
    throw new Error(
      `${POSTGRES_URL_VARIABLE} is not set. Run the tests with "npm test", which starts PostgreSQL.`,
    );
  return url;
};

/** @param template whose copy it becomes */
async function createDatabase(server: string, template: string): Promise<URL> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onPostgres(server, (client) => client.query(`create database ${name} template ${template}`));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url;
}

/** As a server of the tests reaches it: through a PgBouncer, if there is one. */
function reached(url: URL): string {
  const pooler = process.env[PGBOUNCER_URL_VARIABLE];
  if (pooler) url.host = new URL(pooler).host;
  return url.href;
}

/**
 * Makes an empty PostgreSQL database.
 * @param server on which; that of the tests if not given
 * @returns its address
 */
export async function createPostgresDatabase(server?: string): Promise<string> {
  const url = await createDatabase(server ?? serverUrl(), 'template1');
  return server === undefined ? reached(url) : url.href;
}

/** Makes the database that migrated ones are copied from, for all test files. */
export async function makeTemplate(): Promise<void> {
  // Never through a PgBouncer: it would stay connected, and a database with connections cannot be copied.
  const { href, pathname } = await createDatabase(serverUrl(), 'template1');
  const database = openDatabase({ engine: 'postgres', url: href }, () => {});
  await migrate(database);
  await database.close();
  process.env[TEMPLATE_VARIABLE] = pathname.slice(1);
}

const createMigratedDatabase = async (): Promise<string> =>
  reached(await createDatabase(serverUrl(), process.env[TEMPLATE_VARIABLE] ?? 'template1'));

/** The address of a database without rows for DATABASE_URL: in memory, or on the PostgreSQL of the tests, where it is migrated. */
export const freshDatabaseUrl = async (engine: Engine): Promise<string> =>
  engine === 'sqlite' ? 'file::memory:' : createMigratedDatabase();

/**
 * Opens a fresh, migrated database that only this test uses.
 * @param file where SQLite keeps it; in memory if not given
 */
export async function freshDatabase(
  engine: Engine,
  { file = ':memory:', ...options }: DatabaseOptions & { readonly file?: string } = {},
): Promise<OpenDatabase> {
  const config: Config['database'] =
    engine === 'sqlite' ? { engine, file } : { engine, url: await createMigratedDatabase() };
  const database = openDatabase(config, () => {}, options);
  await migrate(database);
  return database;
}

/** Runs a test on such a database, and closes it even when the test fails. */
export async function withDatabase(
  engine: Engine,
  test: (database: OpenDatabase) => Promise<void>,
): Promise<void> {
  const database = await freshDatabase(engine);
  try {
    await test(database);
  } finally {
    await database.close();
  }
}

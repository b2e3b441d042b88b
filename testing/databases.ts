// A fresh, migrated database for each test, on both engines.
import { randomBytes } from 'node:crypto';

import { Client } from 'pg';

import type { Config } from '#server/config.ts';
import { openDatabase, type DatabaseOptions, type OpenDatabase } from '#server/db/connect.ts';
import { migrate } from '#server/db/migrate.ts';

export const ENGINES = ['sqlite', 'postgres'] as const;
export type Engine = (typeof ENGINES)[number];

/** Set by the test commands' set-up (testing/test-setup.ts). */
export const POSTGRES_URL_VARIABLE = 'TEST_POSTGRES_URL';
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

/** Makes an empty PostgreSQL database; returns its address. */
export async function createPostgresDatabase(server: string = serverUrl()): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const client = new Client({ connectionString: server });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  const pooler = process.env[PGBOUNCER_URL_VARIABLE];
  if (pooler && server === process.env[POSTGRES_URL_VARIABLE]) url.host = new URL(pooler).host;
  return url.href;
}

/** The address of an empty database for DATABASE_URL: in memory, or on the PostgreSQL of the tests. */
export const freshDatabaseUrl = async (engine: Engine): Promise<string> =>
  engine === 'sqlite' ? 'file::memory:' : createPostgresDatabase();

/**
 * Opens a fresh, migrated database that only this test uses.
 * @param file where SQLite keeps it; in memory if not given
 */
export async function freshDatabase(
  engine: Engine,
  { file = ':memory:', ...options }: DatabaseOptions & { readonly file?: string } = {},
): Promise<OpenDatabase> {
  const config: Config['database'] =
    engine === 'sqlite' ? { engine, file } : { engine, url: await createPostgresDatabase() };
  const database = openDatabase(config, () => {}, options);
  await migrate(database);
  return database;
}

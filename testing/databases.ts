import { randomBytes } from 'node:crypto';
import path from 'node:path';

import type { Config } from '#server/settings/settings.ts';
import { openDatabase, type DatabaseOptions, type OpenDatabase } from '#server/db/engine/connect.ts';
import { migrate } from '#server/db/migrations/migrate.ts';
import { onPostgres } from '#testing/postgres-server.ts';

export type Engine = 'sqlite' | 'postgres';

/** testing/run-logic.ts sets it to `sqlite` for test files that need not run on PostgreSQL. */
export const ENGINES_VARIABLE = 'TEST_ENGINES';

export const ENGINES: readonly Engine[] =
  process.env[ENGINES_VARIABLE] === 'sqlite' ? ['sqlite'] : ['sqlite', 'postgres'];

export const POSTGRES_URL_VARIABLE = 'TEST_POSTGRES_URL';
/** A migrated, empty database; copying it takes a third of the time of migrating. */
const TEMPLATE_VARIABLE = 'TEST_POSTGRES_TEMPLATE';

const serverUrl = (): string => {
  const url = process.env[POSTGRES_URL_VARIABLE];
  if (!url)
    throw new Error(
      `${POSTGRES_URL_VARIABLE} is not set. Run the tests with "npm test", which starts PostgreSQL.`,
    );
  return url;
};

async function createDatabase(server: string, template: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onPostgres(server, (client) => client.query(`create database ${name} template ${template}`));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

export const createPostgresDatabase = (server = serverUrl()): Promise<string> =>
  createDatabase(server, 'template1');

export async function makeTemplate(): Promise<void> {
  const url = await createPostgresDatabase();
  const database = openDatabase({ engine: 'postgres', url }, () => {});
  await migrate(database);
  await database.close();
  process.env[TEMPLATE_VARIABLE] = new URL(url).pathname.slice(1);
}

const createMigratedDatabase = (): Promise<string> =>
  createDatabase(serverUrl(), process.env[TEMPLATE_VARIABLE] ?? 'template1');

export const freshDatabaseUrl = async (engine: Engine): Promise<string> =>
  engine === 'sqlite' ? 'file::memory:' : createMigratedDatabase();

type TestDatabase = OpenDatabase & AsyncDisposable;

export function openTestDatabase(config: Config['database'], options?: DatabaseOptions): TestDatabase {
  const database = openDatabase(config, () => {}, options);
  return { ...database, [Symbol.asyncDispose]: database.close };
}

/** Of one server or file, so that several processes can open it. It is empty, without tables. */
export const emptyDatabase = async (engine: Engine, folder: string): Promise<Config['database']> =>
  engine === 'sqlite'
    ? { engine, file: path.join(folder, 'leads.db') }
    : { engine, url: await createPostgresDatabase() };

export async function freshDatabase(
  engine: Engine,
  { file = ':memory:', ...options }: DatabaseOptions & { readonly file?: string } = {},
): Promise<TestDatabase> {
  const database = openTestDatabase(
    engine === 'sqlite' ? { engine, file } : { engine, url: await createMigratedDatabase() },
    options,
  );
  await migrate(database);
  return database;
}

export async function withDatabase(
  engine: Engine,
  test: (database: OpenDatabase) => Promise<void>,
): Promise<void> {
  await using database = await freshDatabase(engine);
  await test(database);
}

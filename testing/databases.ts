import { randomBytes } from 'node:crypto';
import path from 'node:path';

import type { Config } from '#server/settings/settings.ts';
import { openDatabase, type DatabaseOptions, type OpenDatabase } from '#server/db/engine/connect.ts';
import { NOT_STATED } from '#server/db/tables/consent-wordings.ts';
import { migrate } from '#server/db/migrations/migrate.ts';
import { onPostgres } from '#testing/postgres-server.ts';

export type Engine = 'sqlite' | 'postgres';

export const ENGINES: readonly Engine[] = ['sqlite', 'postgres'];

/** Set by `npm run test:matrix`. */
export const MATRIX_VARIABLE = 'TEST_MATRIX';

/** The engines for tests whose result does not depend on the engine. */
export const MATRIX_ENGINES: readonly Engine[] =
  process.env[MATRIX_VARIABLE] === undefined ? ['sqlite'] : ENGINES;

export const POSTGRES_URL_VARIABLE = 'TEST_POSTGRES_URL';
/** A migrated, empty database; copying it takes a third of the time of migrating. */
const TEMPLATE_VARIABLE = 'TEST_POSTGRES_TEMPLATE';
/** A hash of its columns, constraints, triggers, functions, settings and the migration's row. */
const SHAPE_VARIABLE = 'TEST_POSTGRES_SHAPE';

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

/** Its lower('I') is a dotless i. */
export const createTurkishDatabase = (): Promise<string> =>
  createDatabase(serverUrl(), "template0 locale_provider icu icu_locale 'tr' locale 'C'");

export async function makeTemplate(): Promise<void> {
  const url = await createPostgresDatabase();
  const database = openDatabase({ engine: 'postgres', url }, () => {});
  await migrate(database);
  await database.close();
  process.env[TEMPLATE_VARIABLE] = new URL(url).pathname.slice(1);
  const { rows } = await onPostgres(url, (client) => client.query<{ shape: string }>(SHAPE));
  process.env[SHAPE_VARIABLE] = rows[0]?.shape;
}

/** PostgreSQL writes 440 files for a new database, so finished tests pass theirs on, emptied. */
const closed: string[] = [];

async function createMigratedDatabase(): Promise<string> {
  for (let url = closed.pop(); url !== undefined; url = closed.pop()) if (await empty(url)) return url;
  return createDatabase(serverUrl(), process.env[TEMPLATE_VARIABLE] ?? 'template1');
}

/** Returns false if the test changed more than rows. */
const empty = (url: string): Promise<boolean> =>
  onPostgres(url, async (client) => {
    const { rows } = await client.query<{ shape: string }>(SHAPE);
    if (rows[0]?.shape !== process.env[SHAPE_VARIABLE]) return false;
    await client.query(DELETE_ROWS);
    return true;
  });

const SHAPE = `
  select md5(string_agg(name, ',' order by name)) as shape from (
    select concat(relname, ' ', attname, ' ', attnotnull) from pg_class join pg_attribute on attrelid = pg_class.oid
    where relnamespace = 'public'::regnamespace and not attisdropped
    union all select tgname from pg_trigger where not tgisinternal
    union all select concat(conname, conrelid::regclass) from pg_constraint
    union all select text from consent_wordings where version = '${NOT_STATED}'
    union all select proname from pg_proc where pronamespace = 'public'::regnamespace
    union all select setconfig::text from pg_db_role_setting join pg_database on setdatabase = pg_database.oid
    where datname = current_database()
  ) as names (name)`;

/** PostgreSQL does not check foreign keys for a replica. The remaining wording comes from the migration. */
const DELETE_ROWS = `
  set session_replication_role = replica;
  do $$ declare name text; begin
    for name in select tablename from pg_tables
      where schemaname = 'public' and tablename <> 'consent_wordings' and tablename not like 'kysely%' loop
      execute format('delete from %I', name);
    end loop;
    delete from consent_wordings where version <> '${NOT_STATED}';
  end $$`;

export const freshDatabaseUrl = async (engine: Engine): Promise<string> =>
  engine === 'sqlite' ? 'file::memory:' : createMigratedDatabase();

/** Close all connections first, because another test may get the database. */
export function releaseDatabase(url: string): void {
  if (url.startsWith('postgres:')) closed.push(url);
}

type TestDatabase = OpenDatabase & AsyncDisposable;

export function openTestDatabase(config: Config['database'], options?: DatabaseOptions): TestDatabase {
  const database = openDatabase(config, () => {}, options);
  return { ...database, [Symbol.asyncDispose]: database.close };
}

/** A database without tables that several processes can open. */
export const emptyDatabase = async (engine: Engine, folder: string): Promise<Config['database']> =>
  engine === 'sqlite'
    ? { engine, file: path.join(folder, 'leads.db') }
    : { engine, url: await createPostgresDatabase() };

export async function freshDatabase(
  engine: Engine,
  { file = ':memory:', ...options }: DatabaseOptions & { readonly file?: string } = {},
): Promise<TestDatabase> {
  const url = await freshDatabaseUrl(engine);
  const database = openDatabase(engine === 'sqlite' ? { engine, file } : { engine, url }, () => {}, options);
  await migrate(database);
  return {
    ...database,
    [Symbol.asyncDispose]: async () => {
      await database.close();
      releaseDatabase(url);
    },
  };
}

export async function withDatabase(
  engine: Engine,
  test: (database: OpenDatabase) => Promise<void>,
): Promise<void> {
  await using database = await freshDatabase(engine);
  await test(database);
}

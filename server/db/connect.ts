// Opens the database: SQLite for one machine, PostgreSQL for many. The rest of server/db does not know which.
import path from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

import { Kysely, PostgresDialect, SqliteDialect, type SqliteDatabase } from 'kysely';
import { Pool, TypeOverrides, types } from 'pg';

import type { Config } from '#server/config.ts';
import type { Schema } from '#server/db/schema.ts';
import { makePrivate, makePrivateFolder, touchPrivateFile } from '#server/private-files.ts';

export type Db = Kysely<Schema>;

export type OpenDatabase = {
  readonly db: Db;
  readonly engine: Config['database']['engine'];
  /** Closes it, after the statements in hand. */
  readonly close: () => Promise<void>;
};

const BUSY_TIMEOUT_MS = 5_000;
const POSTGRES_POOL_SIZE = 10;

/**
 * Opens the database; makes the file and its folder if there is none. Migrations are a step of their own.
 * @param onConnectionError told when an idle PostgreSQL connection breaks; the pool opens another one by itself
 */
export function openDatabase(
  config: Config['database'],
  onConnectionError: (error: Error) => void,
): OpenDatabase {
  if (config.engine === 'sqlite') return openSqlite(config.file);

  const typeOverrides = new TypeOverrides(types);
  // Times are 64-bit; as milliseconds they fit a JavaScript number until the year 287396.
  typeOverrides.setTypeParser(types.builtins.INT8, Number);
  const pool = new Pool({
    connectionString: config.url,
    types: typeOverrides,
    max: POSTGRES_POOL_SIZE,
    connectionTimeoutMillis: 5_000,
    // A statement that takes longer than this is stuck behind something; failing tells the visitor so.
    statement_timeout: 10_000,
  });
  pool.on('error', onConnectionError);
  // The pool listens to its idle connections only. One that breaks between two statements of a transaction would end the
  // whole process.
  pool.on('connect', (client) => client.on('error', onConnectionError));
  const db: Db = new Kysely({ dialect: new PostgresDialect({ pool }) });
  return { db, engine: 'postgres', close: () => db.destroy() };
}

function openSqlite(file: string): OpenDatabase {
  if (file !== ':memory:') makeFilesPrivate(path.resolve(file));
  const sqlite = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
  sqlite.exec('pragma journal_mode = wal');
  // With WAL the default would be allowed to lose the newest commits in a power cut. A 202 is a promise.
  sqlite.exec('pragma synchronous = full');
  const db: Db = new Kysely({ dialect: new SqliteDialect({ database: forKysely(sqlite) }) });
  return { db, engine: 'sqlite', close: () => db.destroy() };
}

/** Before SQLite opens them: it gives the two files beside the database the database's own mode. */
function makeFilesPrivate(file: string): void {
  makePrivateFolder(path.dirname(file));
  touchPrivateFile(file);
  for (const suffix of ['-wal', '-shm']) makePrivate(`${file}${suffix}`);
}

const NOTHING: ReturnType<SqliteDatabase['prepare']> = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [][Symbol.iterator](),
};

/** Kysely speaks to better-sqlite3; Node's own driver differs in three places. */
function forKysely(sqlite: DatabaseSync): SqliteDatabase {
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    // A plain "begin" takes the write lock at the first write, when a second process may hold it already and
    // waiting is no longer allowed. Every transaction here writes, so it asks at once and may wait.
    const text = sql === 'begin' ? 'begin immediate' : sql;
    let statement = statements.get(text);
    if (statement === undefined) {
      statement = sqlite.prepare(text);
      statements.set(text, statement);
    }
    return statement;
  };
  const values = (parameters: readonly unknown[]): SQLInputValue[] => parameters.map(toSqlValue);
  return {
    close: () => {
      statements.clear();
      sqlite.close();
    },
    prepare: (sql) => {
      // A full disk or an I/O error ends the transaction by itself. Then there is nothing to roll back, and failing at it
      // would hide the error that matters.
      if (sql === 'rollback' && !sqlite.isTransaction) return NOTHING;
      const statement = prepare(sql);
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => statement.all(...values(parameters)),
        run: (parameters) => statement.run(...values(parameters)),
        iterate: (parameters) => statement.iterate(...values(parameters)),
      };
    },
  };
}

function toSqlValue(value: unknown): SQLInputValue {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') {
    return value;
  }
  throw new TypeError(`SQLite cannot hold a ${typeof value}.`);
}

// Opens the database: SQLite for one machine, PostgreSQL for many. The rest of server/db does not know which.
import { statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { Kysely, PostgresAdapter, PostgresDialect, type LogEvent } from 'kysely';

import type { DatabaseAddress } from '#server/platform/database-url.ts';
import { createLastWrites, type LastWrites } from '#server/db/engine/last-writes.ts';
import { openPostgresPool } from '#server/db/engine/postgres.ts';
import type { Schema } from '#server/db/schema.ts';
import { createSqliteDialect } from '#server/db/engine/sqlite.ts';
import { makePrivate, makePrivateFolder, touchPrivateFile } from '#server/platform/private-files.ts';

export type Db = Kysely<Schema>;

export type OpenDatabase = {
  readonly db: Db;
  readonly engine: DatabaseAddress['engine'];
  /**
   * False once the file was deleted or replaced: what is written now is lost.
   * Always true for PostgreSQL.
   */
  readonly isFileOurs: () => boolean;
  /** How the last writes of this process ended. */
  readonly writes: Pick<LastWrites, 'fault'>;
  /**
   * Empties SQLite's write-ahead log, which holds what was deleted since it began. Does not wait.
   * @returns false when a reader or a writer is in the way. Always true for PostgreSQL, which reuses its own log
   */
  readonly emptyLog: () => boolean;
  /** Closes it, after the statements in hand. */
  readonly close: () => Promise<void>;
};

export type DatabaseOptions = {
  /** Milliseconds since 1970; the system's if not given. */
  readonly clock?: () => number;
  /** How long a statement may wait for SQLite's file, from when it was asked for. Milliseconds. */
  readonly patienceMs?: number;
  /** How long PostgreSQL may take for one statement; 0: as long as it likes. Milliseconds. */
  readonly statementTimeoutMs?: number;
  /** Called with the text of every statement. */
  readonly onStatement?: (sql: string) => void;
};

/** A visitor who waits longer is asked to come back. */
const PATIENCE_MS = 5_000;
/** Opening waits inside SQLite: nothing is served yet. */
const OPENING_TIMEOUT_MS = 5_000;
/** Pages that SQLite keeps; its own 2 MB are smaller than the parts of a few thousand leads' indexes that are always in use. */
const SQLITE_CACHE_KIB = 16 * 1024;
/** A statement that takes longer is stuck; it fails, so that the visitor gets an answer. */
const STATEMENT_TIMEOUT_MS = 10_000;

/**
 * Opens the database; makes the file and its folder if there is none. Runs no migrations.
 * @param onConnectionError called when an idle PostgreSQL connection breaks; the pool opens another one by itself
 * @param options as usual if not given
 */
export function openDatabase(
  config: DatabaseAddress,
  onConnectionError: (error: Error) => void,
  options: DatabaseOptions = {},
): OpenDatabase {
  if (config.engine === 'sqlite') return openSqlite(config.file, options);

  const writes = createLastWrites(options.clock ?? Date.now);
  const pool = openPostgresPool({
    url: config.url,
    statementTimeoutMs: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    onConnectionError,
    writes,
  });
  const dialect = Object.assign(new PostgresDialect({ pool }), {
    // migrate.ts takes its own lock.
    createAdapter: () =>
      Object.assign(new PostgresAdapter(), {
        acquireMigrationLock: async () => {},
        releaseMigrationLock: async () => {},
      }),
  });
  const db: Db = new Kysely<Schema>({ dialect, ...logTo(options) });
  return {
    db,
    engine: 'postgres',
    isFileOurs: () => true,
    writes,
    emptyLog: () => true,
    close: () => db.destroy(),
  };
}

const logTo = ({ onStatement }: DatabaseOptions) =>
  onStatement ? { log: ({ query }: LogEvent) => onStatement(query.sql) } : {};

function openSqlite(file: string, options: DatabaseOptions): OpenDatabase {
  if (file !== ':memory:') makeFilesPrivate(path.resolve(file));
  const sqlite = new DatabaseSync(file, { timeout: OPENING_TIMEOUT_MS, enableForeignKeyConstraints: true });
  try {
    sqlite.exec('pragma journal_mode = wal');
    // With WAL the default would be allowed to lose the newest commits in a power cut. A 202 is a promise.
    sqlite.exec('pragma synchronous = full');
    // What a savepoint may have to bring back is written to a file otherwise, twice as much as the write-ahead log.
    sqlite.exec('pragma temp_store = memory');
    sqlite.exec(`pragma cache_size = -${SQLITE_CACHE_KIB}`);
    // What is deleted is overwritten. FAST would leave it in pages that become free.
    sqlite.exec('pragma secure_delete = on');
    // From here on no statement waits inside SQLite, which would block the event loop.
    sqlite.exec('pragma busy_timeout = 0');
  } catch (error) {
    sqlite.close();
    throw error;
  }
  const isFileOurs = file === ':memory:' ? () => true : watchFiles(path.resolve(file));
  const writes = createLastWrites(options.clock ?? Date.now);
  const patienceMs = options.patienceMs ?? PATIENCE_MS;
  const db: Db = new Kysely<Schema>({
    dialect: createSqliteDialect({ sqlite, patienceMs, isFileOurs, writes }),
    ...logTo(options),
  });
  return {
    db,
    engine: 'sqlite',
    isFileOurs,
    writes,
    emptyLog: () => emptyLogOf(sqlite),
    close: () => db.destroy(),
  };
}

/**
 * Brings what stands in a write-ahead log into the database, and leaves the log without a byte. Does not wait longer than the handle does.
 * @returns false when another transaction is in the way
 */
export function emptyLogOf(sqlite: DatabaseSync): boolean {
  if (sqlite.isTransaction) return false;
  return sqlite.prepare('pragma wal_checkpoint(truncate)').get()?.['busy'] === 0;
}

/** Before SQLite opens them: it gives the two files beside the database the database's own mode. */
function makeFilesPrivate(file: string): void {
  makePrivateFolder(path.dirname(file));
  touchPrivateFile(file);
  for (const suffix of ['-wal', '-shm']) makePrivate(`${file}${suffix}`);
}

/**
 * Whether a database and its write-ahead log are the files that they were. An open file outlives its name: a process goes on
 * reading and writing what was deleted, and all of it is gone when the process ends.
 */
function watchFiles(database: string): () => boolean {
  const identityOf = (file: string): string | undefined => {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stats && `${stats.dev}:${stats.ino}`;
  };
  const log = `${database}-wal`;
  const ours = identityOf(database);
  // Made with the first statement, and there until the last process closes the database.
  let oursToo: string | undefined;
  return () => {
    oursToo ??= identityOf(log);
    return identityOf(database) === ours && identityOf(log) === oursToo;
  };
}

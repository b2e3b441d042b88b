import { realpathSync, statSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { Kysely, PostgresAdapter, PostgresDialect, sql, type LogEvent } from 'kysely';

import type { Schema } from '#server/db/all-tables.ts';
import {
  createWriteMonitor,
  type WriteMonitor,
  SQLITE_IOERR,
  sqliteError,
} from '#server/db/engine/outages.ts';
import { openPostgresPool } from '#server/db/engine/postgres.ts';
import { createSqliteDialect } from '#server/db/engine/sqlite.ts';
import type { DatabaseAddress } from '#server/platform/database-url.ts';
import { oneAtATime } from '#server/platform/background-work.ts';
import { makePrivate, makePrivateFolder, touchPrivateFile } from '#server/platform/files.ts';

export type Db = Kysely<Schema>;

export type OpenDatabase = {
  readonly db: Db;
  readonly engine: DatabaseAddress['engine'];
  /** False after the file was deleted or replaced, because writes would be lost. */
  readonly isFileInPlace: () => boolean;
  readonly writes: Pick<WriteMonitor, 'fault'>;
  /**
   * Truncates SQLite's write-ahead log (WAL) without waiting.
   * @returns false if another process prevented it; always true for PostgreSQL
   */
  readonly truncateWal: () => boolean;
  readonly close: () => Promise<void>;
};

export type DatabaseOptions = {
  readonly clock?: () => number;
  readonly lockTimeoutMs?: number;
  /** 0 for no limit. */
  readonly statementTimeoutMs?: number;
  readonly onStatement?: (sql: string) => void;
};

const LOCK_TIMEOUT_MS = 5_000;
/** Opening may block inside SQLite, because nothing is served yet. */
const OPENING_TIMEOUT_MS = 5_000;
/** SQLite's default of 2 MB is too small for the index pages of a few thousand leads. */
const SQLITE_CACHE_KIB = 16 * 1024;
/** A longer statement is stuck. It fails, so the visitor gets a response. */
const STATEMENT_TIMEOUT_MS = 10_000;

/**
 * Creates a missing file, but runs no migrations.
 * @param onConnectionError called when an idle PostgreSQL connection breaks; the pool reconnects by itself
 */
export function openDatabase(
  config: DatabaseAddress,
  onConnectionError: (error: Error) => void,
  options: DatabaseOptions = {},
): OpenDatabase {
  if (config.engine === 'sqlite') return openSqlite(config.file, options);

  const writes = createWriteMonitor(options.clock ?? Date.now);
  const pool = openPostgresPool({
    url: config.url,
    statementTimeoutMs: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    onConnectionError,
    writes,
  });
  const dialect = Object.assign(new PostgresDialect({ pool }), {
    createAdapter: () =>
      Object.assign(new PostgresAdapter(), {
        // migrate.ts takes its own lock.
        acquireMigrationLock: async () => {},
        releaseMigrationLock: async () => {},
      }),
  });
  const db: Db = new Kysely<Schema>({ dialect, ...logOption(options) });
  return {
    db,
    engine: 'postgres',
    isFileInPlace: () => true,
    writes,
    truncateWal: () => true,
    close: () => db.destroy(),
  };
}

const logOption = ({ onStatement }: DatabaseOptions) =>
  onStatement ? { log: ({ query }: LogEvent) => onStatement(query.sql) } : {};

function openSqlite(file: string, options: DatabaseOptions): OpenDatabase {
  if (file !== ':memory:') makeFilesPrivate(path.resolve(file));
  const sqlite = new DatabaseSync(file, { timeout: OPENING_TIMEOUT_MS, enableForeignKeyConstraints: true });
  // Some file systems and :memory: allow no write-ahead log.
  let hasWal: boolean;
  try {
    hasWal = sqlite.prepare('pragma journal_mode = wal').get()?.['journal_mode'] === 'wal';
    // A power cut must not lose commits that a 202 has promised. "full" would block the event loop until each is on the disk, so
    // with a WAL, each commit waits for `flush` instead.
    sqlite.exec(`pragma synchronous = ${hasWal ? 'normal' : 'full'}`);
    // Otherwise savepoints write twice as much to a temporary file as to the write-ahead log.
    sqlite.exec('pragma temp_store = memory');
    sqlite.exec(`pragma cache_size = -${SQLITE_CACHE_KIB}`);
    // Overwrites deleted data. FAST would leave it in freed pages.
    sqlite.exec('pragma secure_delete = on');
    sqlite.exec('pragma busy_timeout = 0');
  } catch (error) {
    sqlite.close();
    throw error;
  }
  const isFileInPlace = file === ':memory:' ? () => true : createFileCheck(path.resolve(file));
  const wal = hasWal ? createWalFlush(walFileOf(file)) : null;
  const flush = wal?.flush ?? (async () => {});
  const writes = createWriteMonitor(options.clock ?? Date.now);
  const lockTimeoutMs = options.lockTimeoutMs ?? LOCK_TIMEOUT_MS;
  const dialect = createSqliteDialect({ sqlite, lockTimeoutMs, isFileInPlace, flush, writeMonitor: writes });
  const db: Db = new Kysely<Schema>({ dialect, ...logOption(options) });
  return {
    db,
    engine: 'sqlite',
    isFileInPlace,
    writes,
    truncateWal: () => truncateWal(sqlite),
    close: async () => {
      await db.destroy();
      await wal?.close();
    },
  };
}

/** SQLite keeps it next to the file that a symbolic link leads to. */
const walFileOf = (file: string): string => `${realpathSync(file)}-wal`;

/** Many commits share a flush, because each flush takes as long as several transactions. */
function createWalFlush(file: string): {
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
} {
  let handle: FileHandle | null = null;
  const flush = oneAtATime(async () => {
    try {
      handle ??= await open(file, 'r+');
      await handle.datasync();
    } catch (error) {
      const failure = sqliteError(SQLITE_IOERR, 'The write-ahead log could not be flushed to the disk.');
      throw Object.assign(failure, { cause: error });
    }
  });
  return { flush, close: async () => handle?.close() };
}

export function truncateWal(sqlite: DatabaseSync): boolean {
  if (sqlite.isTransaction) return false;
  return sqlite.prepare('pragma wal_checkpoint(truncate)').get()?.['busy'] === 0;
}

/** Call this before opening, because SQLite copies the file's mode to its companion files. */
function makeFilesPrivate(file: string): void {
  makePrivateFolder(path.dirname(file));
  touchPrivateFile(file);
  for (const suffix of ['-wal', '-shm']) makePrivate(`${file}${suffix}`);
}

/** A deleted file stays open, so later writes would vanish with the process. */
function createFileCheck(database: string): () => boolean {
  const identityOf = (file: string): string | undefined => {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stats && `${stats.dev}:${stats.ino}`;
  };
  const wal = walFileOf(database);
  const fileIdentity = identityOf(database);
  let walIdentity: string | undefined;
  return () => {
    walIdentity ??= identityOf(wal);
    return identityOf(database) === fileIdentity && identityOf(wal) === walIdentity;
  };
}

export const isOnPostgres = (db: Db): boolean => db.getExecutor().adapter instanceof PostgresAdapter;

/**
 * Holds a lock per name, such as an e-mail address, until the transaction ends, so counting and sending are one step. Sorted, so
 * two transactions cannot deadlock. SQLite has only one writer anyway.
 */
export async function acquireLocks(tx: Db, ...names: readonly string[]): Promise<void> {
  if (isOnPostgres(tx))
    await sql`select pg_advisory_xact_lock(hashtextextended(name, 0)) from unnest(${names.toSorted()}::text[]) as name`.execute(
      tx,
    );
}

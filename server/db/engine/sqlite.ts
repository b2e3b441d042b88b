// A Kysely dialect for node:sqlite. SQLite's busy timeout would block the event loop, so a query that finds the file locked is
// retried by a timer. Transactions and other statements run one after the other.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

import {
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely';

import {
  isBusy,
  SQLITE_BUSY,
  SQLITE_CANTOPEN,
  sqliteError,
  type WriteMonitor,
} from '#server/db/engine/outages.ts';

type SqliteParts = {
  readonly sqlite: DatabaseSync;
  readonly lockTimeoutMs: number;
  readonly isFileInPlace: () => boolean;
  /** Resolves once all commits so far are on the disk. */
  readonly flush: () => Promise<void>;
  /** The monitor itself ignores errors that concern only one query. */
  readonly writeMonitor: Pick<WriteMonitor, 'succeeded' | 'failed'>;
};

export function createSqliteDialect(parts: SqliteParts): Dialect {
  return {
    // Otherwise Kysely would use its own queue, which has no timeout, and run migrations outside a transaction.
    createAdapter: () =>
      Object.defineProperties(new SqliteAdapter(), {
        supportsMultipleConnections: { value: true },
        supportsTransactionalDdl: { value: true },
      }),
    createDriver: () => createDriver(parts),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

type Query = { readonly sql: string; readonly parameters: readonly unknown[] };

type PendingQuery = {
  readonly connection: DatabaseConnection;
  readonly kind: 'begin' | 'write' | 'read';
  readonly query: Query;
  readonly resolve: (result: QueryResult<unknown>) => void;
  readonly reject: (error: unknown) => void;
  timer?: NodeJS.Timeout;
};

function createDriver({ sqlite, lockTimeoutMs, isFileInPlace, flush, writeMonitor }: SqliteParts): Driver {
  const run = createRunner(sqlite);
  const command = (sql: string): void => void run({ sql, parameters: [] });
  /** The connection whose transaction is running. */
  let owner: DatabaseConnection | null = null;
  /** First error of the owner. As on PostgreSQL, a transaction cannot be committed after an error. */
  let failure: { readonly cause: unknown } | null = null;
  let hasWritten = false;
  let queue: PendingQuery[] = [];
  /** Not null while another process has locked the file. */
  let retryTimer: NodeJS.Timeout | null = null;
  let onIdle: (() => void) | null = null;

  const enqueue = (connection: DatabaseConnection, kind: PendingQuery['kind'], query: Query) =>
    new Promise<QueryResult<unknown>>((resolve, reject) => {
      const pending: PendingQuery = { connection, kind, query, resolve, reject };
      queue.push(pending);
      startPendingQueries();
      if (queue.includes(pending)) pending.timer = setTimeout(rejectLate, lockTimeoutMs, pending);
    });

  function startPendingQueries(): void {
    while (owner === null) {
      // While another process has locked the file, only reads run.
      const pending = retryTimer === null ? queue[0] : queue.find(({ kind }) => kind === 'read');
      if (pending === undefined) break;
      queue = queue.filter((other) => other !== pending);
      if (tryToStart(pending)) clearTimeout(pending.timer);
      else {
        // Puts it back first. A read thereby passes earlier writes, as reads do anyway while the file is locked.
        queue.unshift(pending);
        retryTimer ??= setTimeout(
          () => {
            retryTimer = null;
            startPendingQueries();
          },
          5 + Math.random() * 10,
        );
        // Otherwise the same read would be tried again at once.
        if (pending.kind === 'read') break;
      }
    }
    if (owner === null && queue.length === 0) onIdle?.();
  }

  /** @returns false if another process has locked the file */
  function tryToStart({ connection, kind, query, resolve, reject }: PendingQuery): boolean {
    try {
      if (kind !== 'read' && !isFileInPlace())
        throw sqliteError(SQLITE_CANTOPEN, 'The database file was deleted.');
      const result = run(query);
      if (kind === 'begin') owner = connection;
      // Without a change, there is nothing to flush: workers look for jobs every second, and mostly find none.
      if (kind === 'write' && hasChanged(result)) whenOnDisk(true).then(() => resolve(result), reject);
      // A read does not wait either: promises depend on transactions, which do wait (commitTransaction).
      else resolve(result);
    } catch (error) {
      if (isBusy(error)) return false;
      writeMonitor.failed(error);
      reject(error);
    }
    return true;
  }

  async function whenOnDisk(isWrite: boolean): Promise<void> {
    await flush().catch((error: unknown) => {
      writeMonitor.failed(error);
      throw error;
    });
    if (isWrite) writeMonitor.succeeded();
  }

  function rejectLate(pending: PendingQuery): void {
    const error = sqliteError(SQLITE_BUSY, 'The database was locked for too long.');
    // If no other process has locked the file, the query has only waited for a slow transaction, and no write has failed.
    if (pending.kind !== 'read' && retryTimer !== null) writeMonitor.failed(error);
    queue = queue.filter((other) => other !== pending);
    pending.reject(error);
    // Calls onIdle if this was the last query.
    startPendingQueries();
  }

  function endTransaction(): void {
    owner = null;
    failure = null;
    hasWritten = false;
    startPendingQueries();
  }

  const rollBackIfRunning = async (connection: DatabaseConnection): Promise<void> => {
    if (owner !== connection) return;
    try {
      if (sqlite.isTransaction) command('rollback');
    } catch (error) {
      writeMonitor.failed(error);
    }
    endTransaction();
  };

  const throwIfBroken = (): void => {
    if (failure !== null) throw failure.cause;
    if (!sqlite.isTransaction) throw new Error('SQLite has rolled back this transaction.');
  };

  const runInTransaction = (query: Query): QueryResult<unknown> => {
    throwIfBroken();
    try {
      const result = run(query);
      hasWritten ||= !isRead(query.sql) && hasChanged(result);
      return result;
    } catch (error) {
      failure = { cause: error };
      writeMonitor.failed(error);
      throw error;
    }
  };

  return {
    init: async () => {},
    acquireConnection: async () => {
      const execute = async (query: Query): Promise<QueryResult<unknown>> =>
        owner === connection
          ? runInTransaction(query)
          : enqueue(connection, isRead(query.sql) ? 'read' : 'write', query);
      const connection: DatabaseConnection = {
        executeQuery: <Row>(query: Query) => execute(query) as Promise<QueryResult<Row>>,
        async *streamQuery<Row>(query: Query) {
          yield (await execute(query)) as QueryResult<Row>;
        },
      };
      return connection;
    },
    beginTransaction: async (connection) => {
      // A plain "begin" takes the lock at the first write, which cannot be retried without repeating the transaction.
      await enqueue(connection, 'begin', { sql: 'begin immediate', parameters: [] });
    },
    commitTransaction: async () => {
      throwIfBroken();
      try {
        command('commit');
      } catch (error) {
        writeMonitor.failed(error);
        throw error;
      }
      const isWrite = hasWritten;
      // The next transaction need not wait for the disk. If the flush fails, the caller gets an error, although the changes are
      // already visible and may or may not survive a crash.
      endTransaction();
      // A transaction that wrote nothing may have read changes that are not yet on the disk.
      await whenOnDisk(isWrite);
    },
    rollbackTransaction: rollBackIfRunning,
    releaseConnection: rollBackIfRunning,
    destroy: async () => {
      await new Promise<void>((resolve) => {
        onIdle = resolve;
        startPendingQueries();
      });
      // The writers have already received any error.
      await Promise.allSettled([flush()]);
      sqlite.close();
    },
  };
}

/** Several times the number of the server's statements. Prepared statements use memory outside the JavaScript heap. */
const MAX_PREPARED = 200;

function createRunner(sqlite: DatabaseSync): (query: Query) => QueryResult<unknown> {
  const prepared = new Map<string, { readonly statement: StatementSync; readonly returnsRows: boolean }>();
  const prepare = (sql: string) => {
    // SQLite would plan a bare `limit ?` again for each value. With the plus, the planner ignores the value.
    const statement = sqlite.prepare(sql.replaceAll('limit ?', 'limit +?'));
    const entry = { statement, returnsRows: statement.columns().length > 0 };
    if (prepared.size >= MAX_PREPARED) prepared.clear();
    prepared.set(sql, entry);
    return entry;
  };
  return ({ sql, parameters }) => {
    const { statement, returnsRows } = prepared.get(sql) ?? prepare(sql);
    const values = parameters as SQLInputValue[];
    // Copied, because V8 treats rows without a prototype as slow dictionaries.
    if (returnsRows) return { rows: statement.all(...values).map((row) => ({ ...row })) };
    const { changes, lastInsertRowid } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  };
}

const hasChanged = ({ rows, numAffectedRows = 0n }: QueryResult<unknown>): boolean =>
  rows.length > 0 || numAffectedRows > 0n;

/** A statement that begins with "with" may write. */
const isRead = (sql: string): boolean => /^\s*(select|pragma|explain)\b/i.test(sql);

// Kysely's way to node:sqlite, whose calls block the event loop. One file handle, one transaction at a time; when the file is
// locked from outside (a backup, a shell, another process), whoever needs it waits beside the loop and everything else goes
// on. Kysely's own driver waits inside SQLite, which is inside the loop.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

import {
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely';

/** Several times what the server has; statements beyond are prepared again. */
const MOST_STATEMENTS = 200;
/** Between two tries of whoever is first in line: a commit of somebody else's takes a few milliseconds. */
const TRY_EVERY_MS = 5;
const JITTER_MS = 10;

const SQLITE_BUSY = 5;
const SQLITE_CANTOPEN = 14;

type SqliteParts = {
  readonly sqlite: DatabaseSync;
  /** How long a statement may wait, from when it was asked for. Milliseconds. */
  readonly patienceMs: number;
  /** Whether the file at the path is still the one that is open. */
  readonly isFileOurs: () => boolean;
};

/** One statement with its values. */
type Ask = { readonly sql: string; readonly parameters: readonly unknown[] };

/** A statement that waits for its turn. */
type Turn = {
  readonly connection: DatabaseConnection;
  readonly ask: Ask;
  readonly resolve: (result: QueryResult<unknown>) => void;
  readonly reject: (error: unknown) => void;
  timer?: NodeJS.Timeout;
};

/** Makes the dialect. Destroying the Kysely instance closes the handle, after the statements in hand. */
export function createSqliteDialect(parts: SqliteParts): Dialect {
  return {
    // Kysely would make connections wait for each other, where nobody can count for how long and a reader has to wait for
    // a writer who waits for somebody else. The driver below does it better.
    createAdapter: () =>
      Object.defineProperty(new SqliteAdapter(), 'supportsMultipleConnections', { value: true }),
    createDriver: () => createDriver(parts),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

function createDriver({ sqlite, patienceMs, isFileOurs }: SqliteParts): Driver {
  const statements = createStatementCache((sql) => sqlite.prepare(sql), MOST_STATEMENTS);
  /** Who has a transaction open; nobody else may use the handle meanwhile. */
  let owner: DatabaseConnection | null = null;
  /** Waits for the handle, in order. */
  let waiting: Turn[] = [];
  /** Found the file locked. The first of them tries again; when it gets through, the next one does. */
  let blocked: Turn[] = [];
  let nextTry: NodeJS.Timeout | null = null;
  let tellIdle: (() => void) | null = null;

  const run = ({ sql, parameters }: Ask): QueryResult<unknown> => {
    // A commit into a file that was deleted would be a promise without a lead.
    if (isBegin(sql) && !isFileOurs()) throw sqliteError(SQLITE_CANTOPEN, 'The database file was deleted.');
    const statement = statements.get(sql);
    const values = parameters.map(toSqlValue);
    if (statement.columns().length > 0) return { rows: statement.all(...values) };
    const { changes, lastInsertRowid } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  };

  const release = (): void => {
    owner = null;
    giveTurns();
  };

  /** @returns false when the file is locked, and the turn is still to be had */
  const take = (turn: Turn): boolean => {
    try {
      const result = run(turn.ask);
      if (sqlite.isTransaction) owner = turn.connection;
      clearTimeout(turn.timer);
      turn.resolve(result);
    } catch (error) {
      if (isBusy(error)) return false;
      clearTimeout(turn.timer);
      turn.reject(error);
    }
    return true;
  };

  const tryAgainSoon = (): void => {
    nextTry ??= setTimeout(
      () => {
        nextTry = null;
        giveTurns();
      },
      TRY_EVERY_MS + Math.random() * JITTER_MS,
    );
  };

  const giveTurns = (): void => {
    while (owner === null && nextTry === null) {
      const [first] = blocked;
      if (first === undefined) break;
      if (take(first)) blocked.shift();
      else tryAgainSoon();
    }
    while (owner === null) {
      const turn = waiting.shift();
      if (turn === undefined) break;
      // Behind those who want to write since longer. Others have their try: who only reads is not held up by a writer.
      const isBehind = isBegin(turn.ask.sql) && blocked.length > 0;
      if (isBehind || !take(turn)) {
        blocked.push(turn);
        tryAgainSoon();
      }
    }
    if (owner === null && waiting.length === 0 && blocked.length === 0) tellIdle?.();
  };

  const giveUp = (turn: Turn): void => {
    waiting = waiting.filter((other) => other !== turn);
    blocked = blocked.filter((other) => other !== turn);
    turn.reject(sqliteError(SQLITE_BUSY, 'The database was locked for too long.'));
    giveTurns();
  };

  const askForTurn = (connection: DatabaseConnection, ask: Ask): Promise<QueryResult<unknown>> =>
    new Promise((resolve, reject) => {
      const turn: Turn = { connection, ask, resolve, reject };
      waiting.push(turn);
      giveTurns();
      if (waiting.includes(turn) || blocked.includes(turn)) {
        turn.timer = setTimeout(giveUp, patienceMs, turn);
      }
    });

  /** A statement of the transaction that is open. */
  const runOwn = async (ask: Ask): Promise<QueryResult<unknown>> => {
    const isEnd = isRollback(ask.sql);
    if (!sqlite.isTransaction) {
      // A full disk or an I/O error ends a transaction by itself. Then there is nothing to roll back, and failing at it would
      // hide the error that matters. Anything else would be committed on its own.
      if (!isEnd) throw new Error('SQLite has given this transaction up.');
      release();
      return { rows: [] };
    }
    const deadline = Date.now() + patienceMs;
    for (;;) {
      try {
        const result = run(ask);
        if (!sqlite.isTransaction) release();
        return result;
      } catch (error) {
        // A commit can meet a lock, where there is no write-ahead log. The transaction stays as it is.
        if (!isBusy(error) || Date.now() >= deadline) throw error;
        await delay(TRY_EVERY_MS + Math.random() * JITTER_MS);
      }
    }
  };

  const execute = (connection: DatabaseConnection, ask: Ask): Promise<QueryResult<unknown>> =>
    owner === connection ? runOwn(ask) : askForTurn(connection, ask);

  const command = async (connection: DatabaseConnection, sql: string): Promise<void> => {
    await execute(connection, { sql, parameters: [] });
  };

  return {
    init: async () => {},
    acquireConnection: async () => {
      const connection: DatabaseConnection = {
        executeQuery: <Row>(query: Ask) => execute(connection, query) as Promise<QueryResult<Row>>,
        async *streamQuery<Row>(query: Ask) {
          yield (await execute(connection, query)) as QueryResult<Row>;
        },
      };
      return connection;
    },
    // A plain "begin" takes the write lock at the first write, when another process may hold it already and waiting is no
    // longer allowed. Every transaction here writes, so it asks at once and may wait.
    beginTransaction: (connection) => command(connection, 'begin immediate'),
    commitTransaction: (connection) => command(connection, 'commit'),
    rollbackTransaction: async (connection) => {
      if (owner === connection) await command(connection, 'rollback');
    },
    releaseConnection: async (connection) => {
      if (owner !== connection) return;
      // Somebody forgot to end it, or could not.
      if (sqlite.isTransaction) sqlite.exec('rollback');
      release();
    },
    destroy: async () => {
      await new Promise<void>((resolve) => {
        tellIdle = resolve;
        giveTurns();
      });
      statements.clear();
      sqlite.close();
    },
  };
}

const isBegin = (sql: string): boolean => /^\s*begin\b/i.test(sql);
const isRollback = (sql: string): boolean => /^\s*rollback\s*$/i.test(sql);

/** Whether SQLite would have had to wait for somebody else. Its extended codes have the primary one in their low byte. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Error &&
  'errcode' in error &&
  typeof error.errcode === 'number' &&
  (error.errcode & 0xff) === SQLITE_BUSY;

/** An error of ours that reads like one of SQLite's, so that it counts as an outage as well. */
const sqliteError = (errcode: number, message: string): Error =>
  Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });

/**
 * Keeps the statements that were used last. What a statement holds lies outside the JavaScript heap, where nobody sees it
 * grow.
 * @param most how many are kept
 */
export function createStatementCache(
  prepare: (sql: string) => StatementSync,
  most: number,
): { readonly get: (sql: string) => StatementSync; readonly size: () => number; readonly clear: () => void } {
  const statements = new Map<string, StatementSync>();
  return {
    get: (sql) => {
      const statement = statements.get(sql) ?? prepare(sql);
      // A Map remembers the order of insertion: the one used last goes to the end.
      statements.delete(sql);
      statements.set(sql, statement);
      const [oldest] = statements.keys();
      if (statements.size > most && oldest !== undefined) statements.delete(oldest);
      return statement;
    },
    size: () => statements.size,
    clear: () => statements.clear(),
  };
}

function toSqlValue(value: unknown): SQLInputValue {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') {
    return value;
  }
  throw new TypeError(`SQLite cannot hold a ${typeof value}.`);
}

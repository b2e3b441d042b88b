// Kysely's way to node:sqlite, whose calls block the event loop. One file handle, one transaction at a time, and one commit for
// those that came together. When the file is locked from outside (a backup, a shell, another process), whoever needs it waits
// beside the loop and everything else goes on. Kysely's own driver waits inside SQLite, which is inside the loop.
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

import type { LastWrites } from '#server/db/engine/last-writes.ts';

/** Several times what the server has; statements beyond are prepared again. */
const MOST_STATEMENTS = 200;
/** Between two tries of whoever is first in line: a commit of somebody else's takes a few milliseconds. */
const TRY_EVERY_MS = 5;
const JITTER_MS = 10;

/** Nobody's commit waits longer for others that want to share it. Milliseconds. */
const GATHER_MS = 8;
/** Where several share a commit, others are on their way: so many turns of the event loop may pass without one. */
const QUIET_TURNS = 6;

const SQLITE_BUSY = 5;
const SQLITE_CANTOPEN = 14;

type SqliteParts = {
  readonly sqlite: DatabaseSync;
  /** How long a statement may wait, from when it was asked for. Milliseconds. */
  readonly patienceMs: number;
  /** Whether the file at the path is still the one that is open. */
  readonly isFileOurs: () => boolean;
  /** Told how writes end. */
  readonly writes: Pick<LastWrites, 'succeeded' | 'failed'>;
};

/** One statement with its values. */
type Ask = { readonly sql: string; readonly parameters: readonly unknown[] };

/** A transaction that begins, a statement on its own that may write, or one that only reads. */
type Purpose = 'begin' | 'write' | 'read';

/** A statement that waits for its turn. */
type Turn = {
  readonly connection: DatabaseConnection;
  readonly purpose: Purpose;
  readonly ask: Ask;
  readonly resolve: (result: QueryResult<unknown>) => void;
  readonly reject: (error: unknown) => void;
  timer?: NodeJS.Timeout;
};

/**
 * Transactions that are committed together, because one commit, with its wait for the disk, costs as much as all the rest of a
 * transaction. Each but the first is a savepoint: it fails alone. None is told of its success before the commit they share.
 */
type Group = {
  /** Those that have ended well and wait for the commit; also whoever read what is not committed yet. */
  readonly waiting: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[];
  /** When a commit that meets a lock gives up; milliseconds since 1970. */
  readonly deadline: number;
  /** What the handle had changed when it began, in all of its life. */
  readonly changesBefore: unknown;
  /** One of its statements has failed: that the rest can be committed says nothing about the database. */
  hasFailed: boolean;
  /** The first member is under way. Nobody else is there to be spared its failure, so it needs no savepoint. */
  isFirstUnderWay: boolean;
};

/** Makes the dialect. Destroying the Kysely instance closes the handle, after the statements in hand. */
export function createSqliteDialect(parts: SqliteParts): Dialect {
  return {
    // Kysely would make connections wait for each other, where nobody can count for how long and a reader has to wait for
    // a writer who waits for somebody else. The driver below does it better.
    // Its migrations would run without a transaction as well, which SQLite has for them.
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

function createDriver({ sqlite, patienceMs, isFileOurs, writes }: SqliteParts): Driver {
  const statements = createStatementCache((sql) => sqlite.prepare(sql), MOST_STATEMENTS);
  /** Whose transaction is under way; nobody else may use the handle meanwhile. */
  let owner: DatabaseConnection | null = null;
  let group: Group | null = null;
  /** The group has had its time, and is committed as soon as its owner is done. */
  let isCommitDue = false;
  /** Waits for the handle, in order. */
  let waiting: Turn[] = [];
  /** Found the file locked. The first of them tries again; when it gets through, the next one does. */
  let blocked: Turn[] = [];
  let nextTry: NodeJS.Timeout | null = null;
  let tellIdle: (() => void) | null = null;

  const run = ({ sql, parameters }: Ask): QueryResult<unknown> => {
    const { statement, returnsRows } = statements.get(sql);
    const values = parameters.map(toSqlValue);
    if (returnsRows) return { rows: statement.all(...values) };
    const { changes, lastInsertRowid } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  };

  const runCommand = (sql: string): void => {
    statements.get(sql).statement.run();
  };

  const countChanges = (): unknown =>
    statements.get('select total_changes() as count').statement.get()?.['count'];

  const openGroup = (): void => {
    // A commit into a file that was deleted would be a promise without a lead.
    if (!isFileOurs()) throw sqliteError(SQLITE_CANTOPEN, 'The database file was deleted.');
    const changesBefore = countChanges();
    // A plain "begin" takes the write lock at the first write, when another process may hold it already and waiting is no
    // longer allowed. Every group writes, so it asks at once and may wait.
    runCommand('begin immediate');
    group = {
      waiting: [],
      deadline: Date.now() + patienceMs,
      changesBefore,
      hasFailed: false,
      isFirstUnderWay: false,
    };
    commitWhenQuiet(group, performance.now(), 0, 0);
  };

  /** Waits for others that want to share the commit, as long as they come; never for long, and not for a second one. */
  const commitWhenQuiet = (opened: Group, since: number, members: number, quietTurns: number): void => {
    setImmediate(() => {
      if (group !== opened) return;
      const { length } = opened.waiting;
      const quiet = length > members ? 0 : quietTurns + 1;
      const isQuiet = quiet > 0 && (length < 2 || quiet >= QUIET_TURNS);
      if (isQuiet || performance.now() - since >= GATHER_MS) commitGroup();
      else commitWhenQuiet(opened, since, length, quiet);
    });
  };

  const endGroup = (tell: (member: Group['waiting'][number]) => void): void => {
    const members = group?.waiting ?? [];
    group = null;
    isCommitDue = false;
    members.forEach(tell);
  };

  /** What cannot be ended as it should must not be committed. */
  const abandonGroup = (error: unknown): void => {
    try {
      if (sqlite.isTransaction) runCommand('rollback');
    } catch {
      // The first error is the one that matters.
    }
    endGroup(({ reject }) => reject(error));
  };

  const commitGroup = (): void => {
    if (group === null) return;
    isCommitDue = true;
    if (owner !== null) return;
    try {
      runCommand('commit');
    } catch (error) {
      // A commit can meet a lock, where there is no write-ahead log. The transaction stays as it is.
      if (isBusy(error) && Date.now() < group.deadline) {
        setTimeout(commitGroup, soon());
        return;
      }
      writes.failed(error);
      abandonGroup(error);
      giveTurns();
      return;
    }
    if (!group.hasFailed && countChanges() !== group.changesBefore) writes.succeeded();
    endGroup(({ resolve }) => resolve());
    giveTurns();
  };

  /** A full disk or an I/O error ends a transaction by itself, and with it all that wait for its commit. */
  const noticeFailure = (error: unknown): void => {
    writes.failed(error);
    if (group !== null) group.hasFailed = true;
    if (group !== null && !sqlite.isTransaction) endGroup(({ reject }) => reject(error));
  };

  const release = (): void => {
    owner = null;
    if (isCommitDue) commitGroup();
    else giveTurns();
  };

  /** @returns false when the file is locked, and the turn is still to be had */
  const take = (turn: Turn): boolean => {
    const isNew = group === null;
    try {
      if (isNew && turn.purpose !== 'read') openGroup();
    } catch (error) {
      if (isBusy(error)) return false;
      writes.failed(error);
      clearTimeout(turn.timer);
      turn.reject(error);
      return true;
    }
    try {
      if (turn.purpose === 'begin') {
        if (isNew && group !== null) group.isFirstUnderWay = true;
        else runCommand('savepoint member');
        owner = turn.connection;
        turn.resolve({ rows: [] });
      } else {
        const result = run(turn.ask);
        if (group === null) turn.resolve(result);
        else group.waiting.push({ resolve: () => turn.resolve(result), reject: turn.reject });
      }
    } catch (error) {
      if (group === null && isBusy(error)) return false;
      turn.reject(error);
      noticeFailure(error);
    }
    clearTimeout(turn.timer);
    return true;
  };

  const tryAgainSoon = (): void => {
    nextTry ??= setTimeout(() => {
      nextTry = null;
      giveTurns();
    }, soon());
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
      const isBehind = turn.purpose !== 'read' && blocked.length > 0;
      if (isBehind || !take(turn)) {
        blocked.push(turn);
        tryAgainSoon();
      }
    }
    if (owner === null && group === null && waiting.length === 0 && blocked.length === 0) tellIdle?.();
  };

  const giveUp = (turn: Turn): void => {
    const error = sqliteError(SQLITE_BUSY, 'The database was locked for too long.');
    // Otherwise it has waited for our own transactions.
    if (turn.purpose !== 'read' && blocked.length > 0) writes.failed(error);
    waiting = waiting.filter((other) => other !== turn);
    blocked = blocked.filter((other) => other !== turn);
    turn.reject(error);
    giveTurns();
  };

  const askForTurn = (
    connection: DatabaseConnection,
    purpose: Purpose,
    ask: Ask,
  ): Promise<QueryResult<unknown>> =>
    new Promise((resolve, reject) => {
      const turn: Turn = { connection, purpose, ask, resolve, reject };
      waiting.push(turn);
      giveTurns();
      if (waiting.includes(turn) || blocked.includes(turn)) {
        turn.timer = setTimeout(giveUp, patienceMs, turn);
      }
    });

  const execute = async (connection: DatabaseConnection, ask: Ask): Promise<QueryResult<unknown>> => {
    if (owner !== connection) return askForTurn(connection, isRead(ask.sql) ? 'read' : 'write', ask);
    // Anything more would be committed on its own.
    if (group === null) throw new Error('SQLite has given this transaction up.');
    try {
      return run(ask);
    } catch (error) {
      noticeFailure(error);
      throw error;
    }
  };

  const rollBack = (): void => {
    try {
      // Without a group there is nothing to roll back, and failing at it would hide the error that matters.
      if (group?.isFirstUnderWay) {
        runCommand('rollback');
        endGroup(() => {});
      } else if (group !== null) {
        runCommand('rollback to member');
        runCommand('release member');
      }
    } catch (error) {
      abandonGroup(error);
    }
    release();
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
    beginTransaction: async (connection) => {
      await askForTurn(connection, 'begin', { sql: '', parameters: [] });
    },
    commitTransaction: (connection) =>
      new Promise((resolve, reject) => {
        if (owner !== connection || group === null)
          return reject(new Error('SQLite has given this transaction up.'));
        if (group.isFirstUnderWay) group.isFirstUnderWay = false;
        else runCommand('release member');
        group.waiting.push({ resolve, reject });
        return release();
      }),
    rollbackTransaction: async (connection) => {
      if (owner === connection) rollBack();
    },
    releaseConnection: async (connection) => {
      // Somebody forgot to end it, or could not.
      if (owner === connection) rollBack();
    },
    destroy: async () => {
      await new Promise<void>((resolve) => {
        tellIdle = () => {
          tellIdle = null;
          statements.clear();
          sqlite.close();
          resolve();
        };
        giveTurns();
      });
    },
  };
}

const isRead = (sql: string): boolean => /^\s*(select|pragma|explain)\b/i.test(sql);
const soon = (): number => TRY_EVERY_MS + Math.random() * JITTER_MS;

/** Whether SQLite would have had to wait for somebody else. Its extended codes have the primary one in their low byte. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Error &&
  'errcode' in error &&
  typeof error.errcode === 'number' &&
  (error.errcode & 0xff) === SQLITE_BUSY;

/** An error of ours that reads like one of SQLite's, so that it counts as an outage as well. */
const sqliteError = (errcode: number, message: string): Error =>
  Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });

type Prepared = { readonly statement: StatementSync; readonly returnsRows: boolean };

/**
 * Keeps the statements that were used last. What a statement holds lies outside the JavaScript heap, where nobody sees it
 * grow.
 * @param most how many are kept
 */
export function createStatementCache(
  prepare: (sql: string) => StatementSync,
  most: number,
): { readonly get: (sql: string) => Prepared; readonly size: () => number; readonly clear: () => void } {
  // Two halves: whatever was not used while one of them filled up is forgotten.
  let recent = new Map<string, Prepared>();
  let former = new Map<string, Prepared>();
  const makeReady = (sql: string): Prepared => {
    const statement = prepare(sql);
    return { statement, returnsRows: statement.columns().length > 0 };
  };
  return {
    get: (sql) => {
      const used = recent.get(sql);
      if (used !== undefined) return used;
      const prepared = former.get(sql) ?? makeReady(sql);
      recent.set(sql, prepared);
      if (recent.size * 2 >= most) {
        former = recent;
        recent = new Map();
      }
      return prepared;
    },
    size: () => recent.size + former.size,
    clear: () => {
      recent.clear();
      former.clear();
    },
  };
}

function toSqlValue(value: unknown): SQLInputValue {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') {
    return value;
  }
  throw new TypeError(`SQLite cannot hold a ${typeof value}.`);
}

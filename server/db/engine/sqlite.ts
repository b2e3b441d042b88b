// node:sqlite blocks the event loop, so a transaction that finds the file locked is retried. Concurrent transactions share one
// commit and its wait for the disk: 190 flows per second instead of 144 (decision 0018). Each transaction is a savepoint that
// can fail separately, and it reports success only after the commit.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

import {
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type LimitNode,
  type QueryResult,
} from 'kysely';

import {
  isBusy,
  SQLITE_BUSY,
  SQLITE_CANTOPEN,
  sqliteError,
  type LastWrites,
} from '#server/db/engine/outages.ts';

type SqliteParts = {
  readonly sqlite: DatabaseSync;
  readonly patienceMs: number;
  readonly isFileOurs: () => boolean;
  readonly writes: Pick<LastWrites, 'succeeded' | 'failed'>;
};

export function createSqliteDialect(parts: SqliteParts): Dialect {
  return {
    // Kysely's own queue has no timeout, and would run migrations outside a transaction.
    createAdapter: () =>
      Object.defineProperties(new SqliteAdapter(), {
        supportsMultipleConnections: { value: true },
        supportsTransactionalDdl: { value: true },
      }),
    createDriver: () => createDriver(parts),
    createQueryCompiler: () => new QueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/**
 * SQLite replans a bare `limit ?` for each value: 25 to 49 µs instead of 3 to 9. A plus sign before it prevents replanning.
 */
class QueryCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    this.append('limit +');
    this.visitNode(node.limit);
  }
}

type Query = { readonly sql: string; readonly parameters: readonly unknown[] };

type Request = {
  readonly connection: DatabaseConnection;
  readonly purpose: 'begin' | 'write' | 'read';
  readonly query: Query;
  readonly resolve: (result: QueryResult<unknown>) => void;
  readonly reject: (error: unknown) => void;
  timer?: NodeJS.Timeout;
};

/**
 * Transactions that share a commit. A group opens with the first write and gathers members: each runs as a savepoint, one at a
 * time, and then waits for the commit. If no new member arrives for some turns of the event loop, the group is due: it accepts
 * no more members, waits for the running one, and is committed or abandoned, which settles all members.
 */
type Group = {
  readonly members: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[];
  readonly openedAt: number;
  /** A statement has failed, perhaps only by violating a constraint. Other members may still be committed. */
  hasFailed: boolean;
  isDue: boolean;
  /** The number of members at the last turn of the event loop. */
  membersBefore: number;
  /** Turns of the event loop since a member was added. */
  quietTurns: number;
};

/** Measured with 32 visitors: 190 flows per second, and 162 if a group is due after a single turn. */
const GATHER_MS = 8;
const QUIET_TURNS = 6;
const untilNextTry = (): number => 5 + Math.random() * 10;

function createDriver({ sqlite, patienceMs, isFileOurs, writes }: SqliteParts): Driver {
  const run = createRunner(sqlite);
  const command = (sql: string): void => void run({ sql, parameters: [] });
  /** The connection whose savepoint is running. Set by tryToStart and cleared by endTransaction. */
  let owner: DatabaseConnection | null = null;
  /** Of the owner. As on PostgreSQL, a transaction cannot be committed after an error. */
  let failure: { readonly cause: unknown } | null = null;
  /** Set by openGroup and cleared by endGroup. */
  let group: Group | null = null;
  let waiting: Request[] = [];
  /** Set while another process has locked the file: by startWaiting, and cleared by the timer itself. */
  let retry: NodeJS.Timeout | null = null;
  let onIdle: (() => void) | null = null;

  const enqueue = (
    connection: DatabaseConnection,
    purpose: Request['purpose'],
    query: Query,
  ): Promise<QueryResult<unknown>> =>
    new Promise((resolve, reject) => {
      const request: Request = { connection, purpose, query, resolve, reject };
      waiting.push(request);
      startWaiting();
      if (waiting.includes(request)) request.timer = setTimeout(timeOut, patienceMs, request);
    });

  function startWaiting(): void {
    while (owner === null && group?.isDue !== true) {
      // While another process has locked the file, only reads run.
      const request = retry === null ? waiting[0] : waiting.find(({ purpose }) => purpose === 'read');
      if (request === undefined) break;
      waiting = waiting.filter((other) => other !== request);
      if (tryToStart(request)) clearTimeout(request.timer);
      else {
        waiting.unshift(request);
        retry ??= setTimeout(() => {
          retry = null;
          startWaiting();
        }, untilNextTry());
        if (request.purpose === 'read') break;
      }
    }
    if (owner === null && group === null && waiting.length === 0) onIdle?.();
  }

  /** @returns false if another process has locked the file */
  function tryToStart({ connection, purpose, query, resolve, reject }: Request): boolean {
    try {
      if (group === null && purpose !== 'read') openGroup();
      if (purpose === 'begin') {
        command('savepoint member');
        owner = connection;
        resolve({ rows: [] });
      } else {
        const result = run(query);
        // Within a group, a read may have seen uncommitted rows.
        if (group === null) resolve(result);
        else group.members.push({ resolve: () => resolve(result), reject });
      }
    } catch (error) {
      if (group === null && isBusy(error)) return false;
      reject(error);
      noteFailure(error);
    }
    return true;
  }

  function timeOut(request: Request): void {
    const error = sqliteError(SQLITE_BUSY, 'The database was locked for too long.');
    // Unless another process has locked the file, the request has waited for a slow transaction, so no write has failed.
    if (request.purpose !== 'read' && retry !== null) writes.failed(error);
    waiting = waiting.filter((other) => other !== request);
    request.reject(error);
    startWaiting();
  }

  function openGroup(): void {
    if (!isFileOurs()) throw sqliteError(SQLITE_CANTOPEN, 'The database file was deleted.');
    // A plain "begin" takes the write lock at the first write, too late to wait for it.
    command('begin immediate');
    const openedAt = performance.now();
    group = {
      members: [],
      openedAt,
      hasFailed: false,
      isDue: false,
      membersBefore: 0,
      quietTurns: 0,
    };
    makeDueWhenQuiet(group);
  }

  /**
   * While it has fewer than two members, the group is due after one quiet turn, so a single transaction does not wait for
   * others. Transactions that arrive later form the next group.
   */
  function makeDueWhenQuiet(opened: Group): void {
    setImmediate(() => {
      if (group !== opened) return;
      const { length } = opened.members;
      opened.quietTurns = length > opened.membersBefore ? 0 : opened.quietTurns + 1;
      opened.membersBefore = length;
      const isQuiet = opened.quietTurns >= (length < 2 ? 1 : QUIET_TURNS);
      if (isQuiet || performance.now() - opened.openedAt >= GATHER_MS) {
        opened.isDue = true;
        commitUnlessRunning(opened);
      } else makeDueWhenQuiet(opened);
    });
  }

  /** If a member is still running, endTransaction calls this again. */
  function commitUnlessRunning(due: Group): void {
    if (owner !== null || group !== due) return;
    try {
      command('commit');
    } catch (error) {
      // Without a write-ahead log, a reader's lock can block the commit.
      if (isBusy(error) && performance.now() < due.openedAt + patienceMs)
        setTimeout(commitUnlessRunning, untilNextTry(), due);
      else abandon(error);
      return;
    }
    // After a failed statement, the commit may have written nothing, so it does not prove that the file can be written.
    if (!due.hasFailed) writes.succeeded();
    endGroup(({ resolve }) => resolve());
  }

  function endGroup(settle: (member: Group['members'][number]) => void): void {
    const members = group?.members ?? [];
    group = null;
    members.forEach(settle);
    startWaiting();
  }

  function abandon(error: unknown): void {
    writes.failed(error);
    try {
      if (sqlite.isTransaction) command('rollback');
    } catch {
      // The error above is the cause and is reported.
    }
    endGroup(({ reject }) => reject(error));
  }

  function noteFailure(error: unknown): void {
    writes.failed(error);
    if (group === null) return;
    group.hasFailed = true;
    // A full disk or an I/O error rolls back the whole group. Its running member then fails too, because `group` is null.
    if (!sqlite.isTransaction) endGroup(({ reject }) => reject(error));
  }

  function endTransaction(): void {
    owner = null;
    failure = null;
    if (group?.isDue) commitUnlessRunning(group);
    else startWaiting();
  }

  const rollBack = async (connection: DatabaseConnection): Promise<void> => {
    if (owner !== connection) return;
    try {
      if (group !== null) {
        command('rollback to member');
        command('release member');
      }
    } catch (error) {
      abandon(error);
    }
    endTransaction();
  };

  return {
    init: async () => {},
    acquireConnection: async () => {
      const execute = async (query: Query): Promise<QueryResult<unknown>> => {
        if (owner !== connection) return enqueue(connection, isRead(query.sql) ? 'read' : 'write', query);
        if (failure !== null) throw failure.cause;
        if (group === null) throw rolledBackError();
        try {
          return run(query);
        } catch (error) {
          failure = { cause: error };
          noteFailure(error);
          throw error;
        }
      };
      const connection: DatabaseConnection = {
        executeQuery: <Row>(query: Query) => execute(query) as Promise<QueryResult<Row>>,
        async *streamQuery<Row>(query: Query) {
          yield (await execute(query)) as QueryResult<Row>;
        },
      };
      return connection;
    },
    beginTransaction: async (connection) => {
      await enqueue(connection, 'begin', { sql: '', parameters: [] });
    },
    commitTransaction: () =>
      new Promise((resolve, reject) => {
        if (failure !== null) throw failure.cause;
        if (group === null) throw rolledBackError();
        command('release member');
        group.members.push({ resolve, reject });
        endTransaction();
      }),
    rollbackTransaction: rollBack,
    releaseConnection: rollBack,
    destroy: () =>
      new Promise<void>((resolve) => {
        onIdle = () => {
          onIdle = null;
          sqlite.close();
          resolve();
        };
        startWaiting();
      }),
  };
}

/**
 * Several times the number of the server's different statements. Prepared statements use memory outside the JavaScript heap.
 */
const MOST_PREPARED = 200;

function createRunner(sqlite: DatabaseSync): (query: Query) => QueryResult<unknown> {
  const prepared = new Map<string, { readonly statement: StatementSync; readonly returnsRows: boolean }>();
  const prepare = (sql: string) => {
    const statement = sqlite.prepare(sql);
    const made = { statement, returnsRows: statement.columns().length > 0 };
    if (prepared.size >= MOST_PREPARED) prepared.clear();
    prepared.set(sql, made);
    return made;
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

const isRead = (sql: string): boolean => /^\s*(select|pragma|explain)\b/i.test(sql);

const rolledBackError = (): Error => new Error('SQLite has rolled back this transaction.');

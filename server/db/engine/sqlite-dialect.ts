// Kysely's dialect for node:sqlite, whose calls block the event loop. One file handle, one transaction at a time (sqlite-queue.ts), and
// one commit for those that came together (sqlite-shared-commit.ts). Kysely's own driver waits for a locked file inside SQLite, which
// is inside the loop; here everything else goes on.
import type { DatabaseSync } from 'node:sqlite';

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

import type { LastWrites } from '#server/db/engine/last-writes.ts';
import { createHandle, isBusy, type Statement } from '#server/db/engine/sqlite-handle.ts';
import { createSharedCommit, givenUp } from '#server/db/engine/sqlite-shared-commit.ts';
import { createTurns, type Turn } from '#server/db/engine/sqlite-queue.ts';

type SqliteParts = {
  readonly sqlite: DatabaseSync;
  /** How long a statement may wait, from when it was asked for. Milliseconds. */
  readonly patienceMs: number;
  /** Whether the file at the path is still the one that is open. */
  readonly isFileOurs: () => boolean;
  readonly writes: Pick<LastWrites, 'succeeded' | 'failed'>;
};

/** Makes the dialect. Destroying the Kysely instance closes the handle, after the statements in hand. */
export function createSqliteDialect(parts: SqliteParts): Dialect {
  return {
    // Without the first, Kysely would queue connections itself, with no time limit and with readers behind blocked writers. Without
    // the second, its migrations would run outside a transaction.
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
 * SQLite looks at a bare `limit ?` while it plans, and plans the statement anew whenever another value is bound: 25 to 49 µs instead
 * of 3 to 9. It does not look behind a sign.
 */
class QueryCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    this.append('limit +');
    this.visitNode(node.limit);
  }
}

function createDriver({ sqlite, patienceMs, isFileOurs, writes }: SqliteParts): Driver {
  const handle = createHandle(sqlite);
  /** Whose transaction is under way; no other connection may use the handle meanwhile. */
  let owner: DatabaseConnection | null = null;
  /** What failed first in it. The transaction cannot be committed any more, as on PostgreSQL. */
  let failure: { readonly cause: unknown } | null = null;
  /** Their transaction waits for its commit: no statement may follow. */
  const ending = new WeakSet<DatabaseConnection>();
  let onIdle: (() => void) | null = null;

  const commits = createSharedCommit({
    handle,
    patienceMs,
    isFileOurs,
    writes,
    isMemberUnderWay: () => owner !== null,
    onEnd: () => turns.give(),
  });

  const turns = createTurns({
    patienceMs,
    isFree: () => owner === null,
    take: (turn) => take(turn),
    onLocked: writes.failed,
    onIdle: () => {
      if (!commits.isOpen()) onIdle?.();
    },
  });

  /** @returns false when the file is locked, and the turn is to be tried again */
  function take(turn: Turn): boolean {
    const isFirst = !commits.isOpen();
    try {
      if (isFirst && turn.purpose !== 'read') commits.open();
    } catch (error) {
      if (isBusy(error)) return false;
      writes.failed(error);
      turn.reject(error);
      return true;
    }
    try {
      if (turn.purpose === 'begin') {
        commits.beginMember(isFirst);
        owner = turn.connection;
        turn.resolve({ rows: [] });
      } else {
        const result = handle.run(turn.statement);
        if (commits.isOpen()) commits.join({ resolve: () => turn.resolve(result), reject: turn.reject });
        else turn.resolve(result);
      }
    } catch (error) {
      if (!commits.isOpen() && isBusy(error)) return false;
      turn.reject(error);
      commits.noteFailure(error);
    }
    return true;
  }

  const execute = async (
    connection: DatabaseConnection,
    statement: Statement,
  ): Promise<QueryResult<unknown>> => {
    if (ending.has(connection))
      throw new Error(`A statement came after the commit of its transaction: ${statement.sql}`);
    if (owner !== connection)
      return turns.ask(connection, isRead(statement.sql) ? 'read' : 'write', statement);
    if (failure !== null) throw failure.cause;
    // Without a group, it would be committed on its own.
    if (!commits.isOpen()) throw givenUp();
    try {
      return handle.run(statement);
    } catch (error) {
      failure ??= { cause: error };
      commits.noteFailure(error);
      throw error;
    }
  };

  const release = (): void => {
    owner = null;
    failure = null;
    if (!commits.commitIfDue()) turns.give();
  };

  const rollBack = (connection: DatabaseConnection): void => {
    if (owner !== connection) return;
    commits.rollBackMember();
    release();
  };

  return {
    init: async () => {},
    acquireConnection: async () => {
      const connection: DatabaseConnection = {
        executeQuery: <Row>(query: Statement) => execute(connection, query) as Promise<QueryResult<Row>>,
        async *streamQuery<Row>(query: Statement) {
          yield (await execute(connection, query)) as QueryResult<Row>;
        },
      };
      return connection;
    },
    beginTransaction: async (connection) => {
      await turns.ask(connection, 'begin', { sql: '', parameters: [] });
    },
    commitTransaction: (connection) =>
      new Promise((resolve, reject) => {
        if (owner !== connection) throw givenUp();
        if (failure !== null) throw failure.cause;
        ending.add(connection);
        const settle = (how: () => void) => {
          ending.delete(connection);
          how();
        };
        commits.endMember({
          resolve: () => settle(resolve),
          reject: (error) => settle(() => reject(error)),
        });
        release();
      }),
    rollbackTransaction: async (connection) => rollBack(connection),
    // A transaction that was neither committed nor rolled back ends here.
    releaseConnection: async (connection) => rollBack(connection),
    destroy: () =>
      new Promise<void>((resolve) => {
        onIdle = () => {
          onIdle = null;
          handle.close();
          resolve();
        };
        turns.give();
      }),
  };
}

const isRead = (sql: string): boolean => /^\s*(select|pragma|explain)\b/i.test(sql);

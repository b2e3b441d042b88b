// One open SQLite file: runs statements, keeps those used last prepared, and knows SQLite's errors.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

import type { QueryResult } from 'kysely';

/** Several times what the server has; statements beyond are prepared again. */
const MAX_STATEMENTS = 200;

export const SQLITE_BUSY = 5;
export const SQLITE_CANTOPEN = 14;

/** A statement with its values. */
export type Statement = { readonly sql: string; readonly parameters: readonly unknown[] };

export type Handle = {
  readonly run: (statement: Statement) => QueryResult<unknown>;
  /** Runs a statement without values or rows, such as "commit". */
  readonly command: (sql: string) => void;
  /** How many rows were changed through this handle in all of its life. */
  readonly countChanges: () => unknown;
  readonly isInTransaction: () => boolean;
  readonly close: () => void;
};

export function createHandle(sqlite: DatabaseSync): Handle {
  const statements = createStatementCache((sql) => sqlite.prepare(sql), MAX_STATEMENTS);
  return {
    run: ({ sql, parameters }) => {
      const { statement, returnsRows, columns } = statements.get(sql);
      const values = parameters.map(toSqlValue);
      if (!returnsRows) {
        const { changes, lastInsertRowid } = statement.run(...values);
        return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
      }
      const rows: unknown[] = statement.all(...values);
      return { rows: makeObjects(rows, columns()) };
    },
    command: (sql) => {
      statements.get(sql).statement.run();
    },
    countChanges: () =>
      (statements.get('select total_changes() as count').statement.get() as unknown as unknown[])[0],
    isInTransaction: () => sqlite.isTransaction,
    close: () => {
      statements.clear();
      sqlite.close();
    },
  };
}

/** Whether the file was locked by another process. The low byte of SQLite's extended codes is the primary one. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Error &&
  'errcode' in error &&
  typeof error.errcode === 'number' &&
  (error.errcode & 0xff) === SQLITE_BUSY;

/** Makes an error like one of SQLite's own, so that it counts as an outage as well. */
export const sqliteError = (errcode: number, message: string): Error =>
  Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });

type Prepared = {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
  /** The names of the columns of the newest rows. */
  readonly columns: () => readonly string[];
};

const columnsOf = (statement: StatementSync): readonly string[] =>
  statement.columns().map(({ name }) => name);

/** Keeps at most `limit` prepared statements: what they hold lies outside the JavaScript heap, where no metric shows it. */
export function createStatementCache(
  prepare: (sql: string) => StatementSync,
  limit: number,
): { readonly get: (sql: string) => Prepared; readonly size: () => number; readonly clear: () => void } {
  // Two halves: a statement that is not used while one of them fills up is dropped.
  let recent = new Map<string, Prepared>();
  let former = new Map<string, Prepared>();
  const makeReady = (sql: string): Prepared => {
    const statement = prepare(sql);
    statement.setReturnArrays(true);
    const columns = columnsOf(statement);
    return {
      statement,
      returnsRows: columns.length > 0,
      // A release that comes beside this one may add a column: SQLite plans "select *" anew then. "count(*)" stays as it is.
      columns: /\*(?!\))/.test(sql) ? () => columnsOf(statement) : () => columns,
    };
  };
  return {
    get: (sql) => {
      const used = recent.get(sql);
      if (used !== undefined) return used;
      const prepared = former.get(sql) ?? makeReady(sql);
      recent.set(sql, prepared);
      if (recent.size * 2 >= limit) {
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

/**
 * Makes an object of each row, in place. Those that node:sqlite makes are dictionaries to V8: slower to make and to read, and larger
 * (an export takes a fifth longer).
 */
function makeObjects(rows: unknown[], columns: readonly string[]): unknown[] {
  (rows as unknown[][]).forEach((values, at) => {
    const row: Record<string, unknown> = {};
    for (let column = 0; column < columns.length; column += 1) row[columns[column]!] = values[column];
    rows[at] = row;
  });
  return rows;
}

function toSqlValue(value: unknown): SQLInputValue {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') {
    return value;
  }
  throw new TypeError(`SQLite cannot hold a ${typeof value}.`);
}

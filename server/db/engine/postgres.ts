// Adds to pg's connection pool: timeouts, prepared statements, an error for unreplicated commits, and reconnection when a
// server becomes read-only.
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { Pool, TypeOverrides, types, type PoolClient } from 'pg';

import type { WriteMonitor } from '#server/db/engine/outages.ts';
import { errorCode } from '#server/platform/system-errors.ts';

const POOL_SIZE = 10;
const CONNECT_TIMEOUT_MS = 5_000;
const KEEPALIVE_AFTER_MS = 10_000;
/**
 * The client's own timeout also covers a commit that waits for its standby. It is this much longer than PostgreSQL's, so that
 * PostgreSQL's error comes first.
 */
const GRACE_MS = 2_000;

/** Code for a write on a standby: "read-only transaction". */
const READ_ONLY = '25006';
/** Code for any statement after a failed one in the same transaction. */
const IN_FAILED_TRANSACTION = '25P02';
/** After a shutdown, a read-only error or a lost prepared statement, the connection cannot be used again. */
const UNUSABLE = /^(57P\d\d|25006|26000)$/;

/** Send exactly this text in a transaction, which then has no time limit. */
export const WITHOUT_TIME_LIMIT =
  "select set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)";

type PostgresParts = {
  readonly url: string;
  readonly statementTimeoutMs: number;
  readonly onConnectionError: (error: Error) => void;
  readonly writes: Pick<WriteMonitor, 'succeeded' | 'failed'>;
};

export function openPostgresPool(parts: PostgresParts): PostgresPool {
  const { url, statementTimeoutMs, onConnectionError } = parts;
  // A transaction pooler doesn't keep prepared statements, and refuses the timeout setting.
  const isPooled = new URL(url).searchParams.get('prepare') === 'false';
  const nameOf = isPooled ? () => undefined : createStatementNames();
  const wrappedClients = new WeakMap<PoolClient, PostgresPoolClient>();
  let pool = openPool();
  let ending: Promise<unknown> = Promise.resolve();

  function openPool(): Pool {
    const newPool = new Pool({
      connectionString: url,
      types: numbersForBigints(),
      max: POOL_SIZE,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_AFTER_MS,
      ...(statementTimeoutMs > 0 &&
        !isPooled && {
          statement_timeout: statementTimeoutMs,
          // If this process is suspended or its machine is lost, PostgreSQL would otherwise keep its locks for hours.
          idle_in_transaction_session_timeout: statementTimeoutMs + GRACE_MS,
        }),
      // The role or the database may have its own limit. Behind a pooler, this would lift it for other clients, too.
      ...(statementTimeoutMs === 0 &&
        !isPooled && { verify: (client, done) => client.query('set statement_timeout = 0', done) }),
    });
    newPool.on('error', onConnectionError);
    // The pool listens only to idle connections. Without this listener, a connection that breaks between two statements would
    // end the process.
    newPool.on('connect', (client) => client.on('error', onConnectionError));
    return newPool;
  }

  /** After a failover, all connections of the pool lead to the old primary, now a standby. */
  function replacePool(stalePool: Pool): void {
    if (stalePool !== pool) return;
    pool = openPool();
    ending = Promise.all([ending, stalePool.end()]);
  }

  return {
    options: {},
    connect: async () => {
      const currentPool = pool;
      const client = await currentPool.connect();
      const wrapped =
        wrappedClients.get(client) ??
        wrapClient(client, { ...parts, nameOf, onReadOnly: () => replacePool(currentPool) });
      wrappedClients.set(client, wrapped);
      return wrapped;
    },
    end: async () => {
      ending = Promise.all([ending, pool.end()]);
      await ending;
    },
  };
}

/** 64-bit milliseconds fit a JavaScript number until the year 287396. */
function numbersForBigints(): TypeOverrides {
  const overrides = new TypeOverrides(types);
  overrides.setTypeParser(types.builtins.INT8, Number);
  return overrides;
}

/** Several times the number of different statements that the server uses. Further statements are unnamed. */
const MAX_STATEMENT_NAMES = 200;

/**
 * PostgreSQL plans a named statement once per connection (214 flows per second instead of 172). Statements with "*" stay
 * unnamed, because a newer release may add a column.
 */
function createStatementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>();
  return (text) => {
    const name = names.get(text);
    if (name !== undefined || names.size >= MAX_STATEMENT_NAMES || text.includes('*')) return name;
    names.set(text, `s${names.size + 1}`);
    return names.get(text);
  };
}

/** What is known about a transaction, or about a statement outside one. */
const newUnit = () => ({
  hasWritten: false,
  isUnlimited: false,
  isUnreplicated: false,
  /** The first error, because PostgreSQL doesn't repeat it. */
  failure: null as unknown,
});

function wrapClient(
  client: PoolClient,
  parts: PostgresParts & {
    readonly nameOf: (text: string) => string | undefined;
    readonly onReadOnly: () => void;
  },
): PostgresPoolClient {
  const { statementTimeoutMs, writes, nameOf, onReadOnly } = parts;
  let isInTransaction = false;
  let unit = newUnit();
  let isUnusable = false;
  let isStalled = false;
  // If the wait for a synchronous standby is cancelled, PostgreSQL reports success with a notice.
  client.on('notice', ({ routine }) => {
    unit.isUnreplicated ||= routine === 'SyncRepWaitForLSN';
  });

  const query = async (text: string, values: readonly unknown[]) => {
    if (isStalled) throw timeoutError();
    const begins = /^(begin|start transaction)\b/.test(text);
    if (begins || !isInTransaction) unit = newUnit();
    if (begins) isInTransaction = true;
    if (text === WITHOUT_TIME_LIMIT) unit.isUnlimited = true;
    const name = values.length > 0 ? nameOf(text) : undefined;
    const response = client.query({ ...(name !== undefined && { name }), text, values: [...values] });
    try {
      const isLimited = statementTimeoutMs > 0 && !unit.isUnlimited;
      const result = await (isLimited ? withTimeout(response, statementTimeoutMs + GRACE_MS) : response);
      unit.hasWritten ||= /^(INSERT|UPDATE|DELETE|MERGE)$/.test(result.command) && (result.rowCount ?? 0) > 0;
      if (/^(commit|rollback)$/.test(text)) isInTransaction = false;
      if (isInTransaction) return result;
      if (unit.isUnreplicated) throw unreplicatedError();
      // PostgreSQL also responds with ROLLBACK to the commit of a failed transaction.
      if (unit.hasWritten && result.command !== 'ROLLBACK') writes.succeeded();
      return result;
    } catch (error) {
      const code = errorCode(error) ?? '';
      if (code === IN_FAILED_TRANSACTION && unit.failure !== null) throw unit.failure;
      if (isInTransaction) unit.failure ??= error;
      if (!/^\s*select\b/i.test(text)) writes.failed(error);
      isStalled ||= code === 'ETIMEDOUT';
      if (code === READ_ONLY) onReadOnly();
      isUnusable ||= UNUSABLE.test(code);
      throw error;
    }
  };

  const release = (discard?: Error | boolean) => client.release(discard || isUnusable || isStalled);
  return Object.assign(Object.create(client) as PostgresPoolClient, { query, release });
}

const timeoutError = (): Error =>
  Object.assign(new Error('PostgreSQL did not respond in time.'), { code: 'ETIMEDOUT' });

const unreplicatedError = (): Error =>
  Object.assign(new Error('The commit was not replicated.'), { code: '57014' });

async function withTimeout<Result>(promise: Promise<Result>, ms: number): Promise<Result> {
  // Nobody else handles a rejection after the timeout.
  promise.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timeoutError()), ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

// Adds to pg's connection pool: timeouts, prepared statements, an error for unreplicated commits, and reconnection when a
// server becomes read-only.
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { Pool, TypeOverrides, types, type PoolClient } from 'pg';

import type { LastWrites } from '#server/db/engine/outages.ts';
import { errorCode } from '#server/platform/system-errors.ts';

const POOL_SIZE = 10;
const CONNECT_WITHIN_MS = 5_000;
const KEEPALIVE_AFTER_MS = 10_000;
/**
 * PostgreSQL's timeout doesn't cover a commit that waits for its standby, so the client waits this much longer than the
 * timeout.
 */
const GRACE_MS = 2_000;

/** Code for a write on a standby: "read-only transaction". */
const READ_ONLY = '25006';
/** Code for any statement after a failed one in the same transaction. */
const IN_FAILED_TRANSACTION = '25P02';
/** After a shutdown, a read-only error or a lost prepared statement, the connection is closed. */
const SPENT = /^(57P\d\d|25006|26000)$/;

export const WITHOUT_TIME_LIMIT = "select set_config('statement_timeout', '0', true)";

type PostgresParts = {
  readonly url: string;
  readonly statementTimeoutMs: number;
  readonly onConnectionError: (error: Error) => void;
  readonly writes: Pick<LastWrites, 'succeeded' | 'failed'>;
};

export function openPostgresPool(parts: PostgresParts): PostgresPool {
  const { url, statementTimeoutMs, onConnectionError } = parts;
  // A transaction pooler doesn't keep prepared statements, and refuses the timeout setting.
  const isPooled = new URL(url).searchParams.get('prepare') === 'false';
  const nameOf = isPooled ? () => undefined : createStatementNames();
  const known = new WeakMap<PoolClient, PostgresPoolClient>();
  let pool = openPool();
  let ending: Promise<unknown> = Promise.resolve();

  function openPool(): Pool {
    const opened = new Pool({
      connectionString: url,
      types: numbersForBigints(),
      max: POOL_SIZE,
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_AFTER_MS,
      ...(statementTimeoutMs > 0 && !isPooled && { statement_timeout: statementTimeoutMs }),
    });
    opened.on('error', onConnectionError);
    // The pool listens only to idle connections. Without this listener, a connection that breaks between two statements would
    // end the process.
    opened.on('connect', (client) => client.on('error', onConnectionError));
    return opened;
  }

  /** After a failover, all open connections lead to the old primary, now a standby. */
  function leave(left: Pool): void {
    if (left !== pool) return;
    pool = openPool();
    ending = Promise.all([ending, left.end()]);
  }

  return {
    options: {},
    connect: async () => {
      const from = pool;
      const client = await from.connect();
      const wrapped =
        known.get(client) ?? wrapClient(client, { ...parts, nameOf, onReadOnly: () => leave(from) });
      known.set(client, wrapped);
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

/** Several times the number of the server's different statements. Further statements are unnamed. */
const MOST_NAMES = 200;

/**
 * PostgreSQL plans a named statement once per connection (214 flows per second instead of 172). Statements with "*" stay
 * unnamed, because a newer release may add a column.
 */
function createStatementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>();
  return (text) => {
    const name = names.get(text);
    if (name !== undefined || names.size >= MOST_NAMES || text.includes('*')) return name;
    names.set(text, `s${names.size + 1}`);
    return names.get(text);
  };
}

function wrapClient(
  client: PoolClient,
  parts: PostgresParts & {
    readonly nameOf: (text: string) => string | undefined;
    readonly onReadOnly: () => void;
  },
): PostgresPoolClient {
  const { statementTimeoutMs, writes, nameOf, onReadOnly } = parts;
  let isOpen = false;
  let hasWritten = false;
  let isUnlimited = false;
  let isSpent = false;
  let isUnreplicated = false;
  /** First error in the transaction, because PostgreSQL doesn't repeat it. */
  let failure: unknown = null;
  let isStalled = false;
  // If the wait for a synchronous standby is cancelled, PostgreSQL reports success with a notice.
  client.on('notice', ({ routine }) => {
    isUnreplicated ||= routine === 'SyncRepWaitForLSN';
  });

  const query = async (text: string, values: readonly unknown[]) => {
    if (isStalled) throw notInTime();
    if (/^(begin|start transaction)\b/.test(text)) {
      isOpen = true;
      failure = null;
    }
    if (text === WITHOUT_TIME_LIMIT) isUnlimited = true;
    const name = values.length > 0 ? nameOf(text) : undefined;
    const answer = client.query({ ...(name !== undefined && { name }), text, values: [...values] });
    try {
      const isLimited = statementTimeoutMs > 0 && !isUnlimited;
      const result = await (isLimited ? within(answer, statementTimeoutMs + GRACE_MS) : answer);
      hasWritten ||= /^(INSERT|UPDATE|DELETE|MERGE)$/.test(result.command) && (result.rowCount ?? 0) > 0;
      if (/^(commit|rollback)$/.test(text)) isOpen = false;
      if (!isOpen) {
        isUnlimited = false;
        if (isUnreplicated) throw notReplicated();
        if (hasWritten && result.command !== 'ROLLBACK') writes.succeeded();
        hasWritten = false;
      }
      return result;
    } catch (error) {
      const code = errorCode(error) ?? '';
      if (code === IN_FAILED_TRANSACTION && failure !== null) throw failure;
      if (isOpen) failure ??= error;
      if (!/^\s*select\b/i.test(text)) writes.failed(error);
      isStalled ||= code === 'ETIMEDOUT';
      if (code === READ_ONLY) onReadOnly();
      isSpent ||= SPENT.test(code);
      isUnreplicated = false;
      throw error;
    }
  };

  const release = (discard?: Error | boolean) => client.release(discard || isSpent || isStalled);
  return Object.assign(Object.create(client) as PostgresPoolClient, { query, release });
}

const notInTime = (): Error =>
  Object.assign(new Error('PostgreSQL did not respond in time.'), { code: 'ETIMEDOUT' });

const notReplicated = (): Error =>
  Object.assign(new Error('The commit was not replicated.'), { code: '57014' });

async function within<Result>(promise: Promise<Result>, ms: number): Promise<Result> {
  // Nobody else handles a rejection after the timeout.
  promise.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(notInTime()), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

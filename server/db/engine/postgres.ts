// Connections to PostgreSQL for Kysely's dialect: pg's pool, in which every statement ends in time for its caller, statements are
// prepared, a commit that was not replicated fails, and a server that takes no writes any more is left.
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { Pool, TypeOverrides, types, type PoolClient } from 'pg';

import type { LastWrites } from '#server/db/engine/last-writes.ts';
import { errorCode } from '#server/platform/error-code.ts';

const POOL_SIZE = 10;
/** How long a caller waits for a connection. */
const CONNECT_WITHIN_MS = 5_000;
/** A connection that is silent for this long is checked by TCP. */
const KEEPALIVE_AFTER_MS = 10_000;
/** PostgreSQL ends a statement in time, except a commit that waits for its standby; a caller waits for that much longer. */
const GRACE_MS = 2_000;
/** For how long a connection counts as in use after its statement has outlasted its time. */
const HELD_MS = 60_000;

/** PostgreSQL's code for "read-only transaction", with which a standby answers a write. */
const READ_ONLY = '25006';
/** PostgreSQL's code for a statement behind one that failed, in the same transaction. */
const IN_FAILED_TRANSACTION = '25P02';
/** A connection is not used again that a shutdown has reached, whose server takes no writes, or that lost a prepared statement. */
const SPENT = /^(57P\d\d|25006|26000)$/;

/** Run inside a transaction, lifts the time limit of its statements. */
export const WITHOUT_TIME_LIMIT = "select set_config('statement_timeout', '0', true)";

type PostgresParts = {
  /** DATABASE_URL. */
  readonly url: string;
  /** How long PostgreSQL may take for a statement; 0: no limit. Milliseconds. */
  readonly statementTimeoutMs: number;
  /** Called when an idle connection breaks; another one is opened when it is needed. */
  readonly onConnectionError: (error: Error) => void;
  readonly writes: Pick<LastWrites, 'succeeded' | 'failed'>;
};

/** Opens a pool. It connects when a connection is first needed, and again after an outage. */
export function openPostgresPool(parts: PostgresParts): PostgresPool {
  const { url, statementTimeoutMs, onConnectionError } = parts;
  // A pooler of transactions gives each of them another session, which does not know the names, and refuses the time limit.
  const isPooled = new URL(url).searchParams.get('prepare') === 'false';
  const nameOf = isPooled ? () => undefined : createStatementNames();
  const known = new WeakMap<PoolClient, PostgresPoolClient>();
  /** Release connections whose statement has not ended. */
  const heldBack = new Set<() => void>();
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
    // The pool listens to idle connections only. One that breaks between two statements of a transaction would end the process.
    opened.on('connect', (client) => client.on('error', onConnectionError));
    return opened;
  }

  /** After a failover, every open connection leads to the server that has become a standby. */
  function leave(left: Pool): void {
    if (left !== pool) return;
    pool = openPool();
    ending = Promise.all([ending, left.end()]);
  }

  /**
   * Were the connection closed at once, PostgreSQL would go on waiting for its standby, and new connections would fill it up; were the
   * statement cancelled, its commit would stay where a failover loses it.
   */
  function holdBack(client: PoolClient, answer: Promise<unknown>): void {
    const release = () => {
      if (!heldBack.delete(release)) return;
      clearTimeout(timer);
      client.release(true);
    };
    const timer = setTimeout(release, HELD_MS).unref();
    heldBack.add(release);
    answer.then(release, release);
  }

  return {
    options: {},
    connect: async () => {
      const from = pool;
      const client = await from.connect();
      const wrapped =
        known.get(client) ??
        wrapClient(client, { ...parts, nameOf, holdBack, onReadOnly: () => leave(from) });
      known.set(client, wrapped);
      return wrapped;
    },
    end: async () => {
      ending = Promise.all([ending, pool.end()]);
      for (const release of heldBack) release();
      await ending;
    },
  };
}

/** Times are 64-bit; as milliseconds they fit a JavaScript number until the year 287396. */
function numbersForBigints(): TypeOverrides {
  const overrides = new TypeOverrides(types);
  overrides.setTypeParser(types.builtins.INT8, Number);
  return overrides;
}

/** Several times what the server has; statements beyond are planned anew each time. */
const MOST_NAMES = 200;

/**
 * PostgreSQL plans a named statement once per connection (172 flows per second became 214). Statements with "*" get no name: a newer
 * release running at the same time may add a column, and PostgreSQL refuses a plan whose rows would change.
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
  {
    statementTimeoutMs,
    writes,
    nameOf,
    holdBack,
    onReadOnly,
  }: PostgresParts & {
    readonly nameOf: (text: string) => string | undefined;
    readonly holdBack: (client: PoolClient, answer: Promise<unknown>) => void;
    readonly onReadOnly: () => void;
  },
): PostgresPoolClient {
  let isOpen = false;
  let hasWritten = false;
  let isUnlimited = false;
  let isSpent = false;
  let isUnreplicated = false;
  /** What failed first in the open transaction: PostgreSQL says nothing of it to the statements behind it. */
  let failure: unknown = null;
  let stalled: Promise<unknown> | null = null;
  // When the wait for a synchronous standby is cancelled, PostgreSQL calls the commit a success and sends a notice.
  client.on('notice', ({ routine }) => {
    isUnreplicated ||= routine === 'SyncRepWaitForLSN';
  });

  const query = async (text: string, values: readonly unknown[]) => {
    if (stalled !== null) throw notInTime();
    if (/^(begin|start transaction)\b/.test(text)) {
      isOpen = true;
      failure = null;
    }
    if (text === WITHOUT_TIME_LIMIT) isUnlimited = true;
    // A statement without values needs no plan: begin, commit, or what a migration does once.
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
      if (code === 'ETIMEDOUT') stalled = answer;
      if (code === READ_ONLY) onReadOnly();
      isSpent ||= SPENT.test(code);
      isUnreplicated = false;
      throw error;
    }
  };

  const release = (discard?: Error | boolean) => {
    if (stalled !== null) holdBack(client, stalled);
    else client.release(discard || isSpent);
  };
  return Object.assign(Object.create(client) as PostgresPoolClient, { query, release });
}

const notInTime = (): Error =>
  Object.assign(new Error('PostgreSQL did not respond in time.'), { code: 'ETIMEDOUT' });

const notReplicated = (): Error =>
  Object.assign(new Error('The commit was not replicated.'), { code: '57014' });

async function within<Result>(promise: Promise<Result>, ms: number): Promise<Result> {
  // Its failure after the limit has no other listener.
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

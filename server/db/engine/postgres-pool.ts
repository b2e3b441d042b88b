// Connections to PostgreSQL that outlive its host: they lead to the one that takes writes when several are named, no statement keeps a
// caller for longer than it may, a commit that was not replicated is not called one, and a pooler in between is told by itself.
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { Client, Pool, type CustomTypesConfig, type PoolClient } from 'pg';

import type { LastWrites } from '#server/db/engine/last-writes.ts';
import { isOutage } from '#server/db/engine/outages.ts';
import { errorCode } from '#server/platform/error-code.ts';
import { hostUrls, mustTakeWrites, parametersOf } from '#server/platform/postgres-hosts.ts';
import { createStatementNames } from '#server/db/engine/prepared-statements.ts';

const POOL_SIZE = 10;
/** How long a caller waits for a connection. */
const CONNECT_WITHIN_MS = 5_000;
/** How long one host is given to say what it is. */
const ANSWER_WITHIN_MS = 3_000;
/** PostgreSQL ends a statement by itself, except a commit that waits for its standby; then a caller waits so much longer. */
const GRACE_MS = 2_000;
/** How often to look whether what does not answer is still there. */
const LOOK_EVERY_MS = 2_000;
/** A line that is silent for so long is asked whether its other end is there. */
const KEEPALIVE_AFTER_MS = 10_000;

/** Said in a transaction, lets its statements take as long as they like. */
export const WITHOUT_TIME_LIMIT = "select set_config('statement_timeout', '0', true)";

type PostgresSettings = {
  /** DATABASE_URL. */
  readonly url: string;
  readonly types: CustomTypesConfig;
  /** How long PostgreSQL may take for one statement; 0: as long as it likes. Milliseconds. */
  readonly statementTimeoutMs: number;
  /** Told when a connection breaks that nobody uses; another one is opened when it is needed. */
  readonly onConnectionError: (error: Error) => void;
  /** Told how writes end. */
  readonly writes: Pick<LastWrites, 'succeeded' | 'failed'>;
};

/** The connections to one host, for as long as it is the one to use. */
type Lease = {
  readonly url: string;
  readonly pool: Pool;
  /** Those whose statement has outlasted its time. They count as in use until it ends: on a server that waits, more would wait too. */
  readonly waiting: Map<PoolClient, Server>;
};

/** What a connection leads to. */
type Server = {
  /** Numeric, with the port. */
  readonly address: string;
  /** Another program stands in between, which may give the next transaction another session. */
  readonly isPooled: boolean;
  readonly takesWrites: boolean;
};

/**
 * Opens a pool for a dialect. Nothing is connected before it is needed.
 * @returns a pool whose `connect` fails with what {@link isOutage} knows when no host can be used; an AggregateError with one error
 *   for each of several hosts, in their order
 */
export function openPostgresPool(settings: PostgresSettings): PostgresPool {
  const { url, types, statementTimeoutMs, onConnectionError, writes } = settings;
  const hosts = hostUrls(url);
  const onlyWritable = mustTakeWrites(url);
  const asked = parametersOf(url).get('prepare');
  const nameOf = createStatementNames();
  // PgBouncer refuses parameters that it does not know.
  let takesTimeoutAtStart = statementTimeoutMs > 0;
  let lease: Lease | null = null;
  let searching: Promise<Lease> | null = null;
  let isEnding = false;
  const endings = new Set<Promise<void>>();
  const wrapped = new WeakMap<PoolClient, PostgresPoolClient>();

  const clientSettings = (host: string) => ({
    connectionString: host,
    types,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_AFTER_MS,
    ...(takesTimeoutAtStart && { statement_timeout: statementTimeoutMs }),
  });

  function openLease(host: string): Lease {
    const pool = new Pool({
      ...clientSettings(host),
      max: POOL_SIZE,
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
    });
    pool.on('error', onConnectionError);
    // The pool listens to its idle connections only. One that breaks between two statements of a transaction would end the
    // whole process.
    pool.on('connect', (client) => client.on('error', onConnectionError));
    return { url: host, pool, waiting: new Map() };
  }

  /** Looks for the host to use. Whoever asks meanwhile waits for the same. */
  function findLease(): Promise<Lease> {
    if (lease !== null) return Promise.resolve(lease);
    searching ??= (hosts.length > 1 ? findPrimary() : Promise.resolve({ host: url }))
      .then(({ host }) => (lease = openLease(host)))
      .finally(() => (searching = null));
    return searching;
  }

  /** Asks all hosts at once. Of two that take writes, the one that was promoted later is the primary. */
  async function findPrimary(): Promise<{ readonly host: string; readonly address: string }> {
    const answers = await Promise.allSettled(hosts.map((host) => ask(clientSettings(host))));
    const writable = answers.flatMap((answer, index) =>
      answer.status === 'fulfilled' && answer.value.takesWrites
        ? [{ ...answer.value, host: hosts[index] ?? url }]
        : [],
    );
    const [newest] = writable.toSorted((one, other) => other.timeline - one.timeline);
    if (newest !== undefined) return newest;
    const errors = answers.map((answer) =>
      answer.status === 'rejected' ? toError(answer.reason) : takesNoWrites(),
    );
    throw new AggregateError(errors, 'No host takes writes.');
  }

  /** Ends the use of a host: what is done there now may end there. */
  function endLease(old: Lease): void {
    if (lease === old) lease = null;
    for (const client of old.waiting.keys()) socketOf(client).destroy();
    if (old.pool.ending) return;
    const ending = old.pool.end().catch(() => {});
    endings.add(ending);
    void ending.then(() => endings.delete(ending));
  }

  const leave = (old: Lease): void => {
    if (lease === old) endLease(old);
  };

  async function connect(): Promise<PostgresPoolClient> {
    const start = Date.now();
    for (;;) {
      const askedForTimeout = takesTimeoutAtStart;
      let current: Lease | null = null;
      try {
        current = await findLease();
        return await connectTo(current);
      } catch (error) {
        if (askedForTimeout && isRefusedParameter(error)) takesTimeoutAtStart = false;
        // Another host may have taken over.
        else if (
          current === null ||
          !onlyWritable ||
          isEnding ||
          !isOutage(error) ||
          isQueueTimeout(error) ||
          Date.now() - start > ANSWER_WITHIN_MS
        )
          throw error;
        if (current !== null) leave(current);
      }
    }
  }

  async function connectTo(current: Lease): Promise<PostgresPoolClient> {
    const client = await current.pool.connect();
    const known = wrapped.get(client);
    if (known !== undefined) return known;
    try {
      const server = await within(look(client), CONNECT_WITHIN_MS);
      if (onlyWritable && !server.takesWrites) throw takesNoWrites();
      const one = wrap(client, current, server);
      wrapped.set(client, one);
      return one;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  function wrap(client: PoolClient, current: Lease, server: Server): PostgresPoolClient {
    // Some may tell their clients the number of a process of PostgreSQL's.
    const isPooled = server.isPooled || asked === 'false';
    const mayPrepare = asked === 'true' || !isPooled;
    // In a pooler's session it would stay for whoever comes next.
    const begins = isPooled && statementTimeoutMs > 0;
    let unanswered: Promise<unknown> | null = null;
    let isUnlimited = false;
    let isSpent = false;
    let isUnreplicated = false;
    let isInTransaction = false;
    let hasWritten = false;
    client.on('notice', ({ routine }) => {
      // Somebody cancelled the wait for the synchronous standby: "The transaction has already committed locally".
      if (routine === 'SyncRepWaitForLSN') isUnreplicated = true;
    });

    const query = async (text: string, values: readonly unknown[]) => {
      if (unanswered !== null) throw notInTime();
      const isEnd = /^(commit|rollback)$/.test(text);
      const isBeginning = /^(begin|start transaction)\b/.test(text);
      if (text === WITHOUT_TIME_LIMIT) isUnlimited = true;
      else if (isEnd) isUnlimited = false;
      if (isBeginning || isEnd) isInTransaction = isBeginning;
      // Without values it is one of the few that need no plan: begin, commit, or what a migration does once.
      const name = mayPrepare && values.length > 0 ? nameOf(text) : undefined;
      const answer = client.query(
        begins && isBeginning
          ? { text: `${text}; set local statement_timeout = ${statementTimeoutMs}` }
          : { ...(name !== undefined && { name }), text, values: [...values] },
      );
      try {
        const result = await (statementTimeoutMs > 0 && !isUnlimited
          ? within(answer, statementTimeoutMs + GRACE_MS, () => {
              unanswered = answer;
            })
          : answer);
        if (isUnreplicated) {
          isUnreplicated = false;
          throw Object.assign(new Error('The commit was not replicated.'), { code: '57014' });
        }
        hasWritten ||= isWrite(result);
        if (hasWritten && !isInTransaction && text !== 'rollback') writes.succeeded();
        if (!isInTransaction) hasWritten = false;
        return result;
      } catch (error) {
        // What takes too long to be read says nothing about writing.
        if (text === 'commit' || !isRead(text)) writes.failed(error);
        const code = errorCode(error) ?? '';
        isSpent ||= code === '25006' || code.startsWith('57P');
        // It has become a standby, and so has what every other connection leads to.
        if (code === '25006') leave(current);
        throw error;
      }
    };

    const release = (discard?: Error | boolean) => {
      if (unanswered === null) return client.release(discard || isSpent);
      current.waiting.set(client, server);
      void releaseAfter(unanswered);
      // Whatever else leads to a host that was left would come to nothing as well.
      if (lease !== current) socketOf(client).destroy();
      else if (current.waiting.size === 1) void watch(current);
    };
    const releaseAfter = async (answer: Promise<unknown>): Promise<void> => {
      await Promise.allSettled([answer]);
      current.waiting.delete(client);
      client.release(true);
    };
    return Object.assign(Object.create(client) as PostgresPoolClient, { query, release });
  }

  /** As long as connections give no answer: looks whether they still lead to the host that takes writes, and else cuts them. */
  async function watch(current: Lease): Promise<void> {
    while (lease === current && current.waiting.size > 0) {
      try {
        const now = hosts.length > 1 ? await findPrimary() : await ask(clientSettings(url));
        if ([...current.waiting.values()].some(({ address }) => address !== now.address))
          return leave(current);
      } catch (error) {
        // Nobody is there any more. An answer of PostgreSQL's own, such as that it is full, comes from somebody.
        if (isUnreachable(error)) return leave(current);
      }
      await wait(LOOK_EVERY_MS, undefined, { ref: false });
    }
  }

  return {
    options: {},
    connect,
    end: async () => {
      isEnding = true;
      await searching?.catch(() => {});
      if (lease !== null) endLease(lease);
      await Promise.all(endings);
    },
  };
}

/** Opens a connection to see what a host is. */
async function ask(
  settings: ConstructorParameters<typeof Client>[0],
): Promise<Server & { timeline: number }> {
  const client = new Client({ ...Object(settings), connectionTimeoutMillis: ANSWER_WITHIN_MS });
  client.on('error', () => {});
  try {
    await client.connect();
    const server = await within(look(client), ANSWER_WITHIN_MS);
    return {
      ...server,
      timeline: server.takesWrites ? await within(timelineOf(client), ANSWER_WITHIN_MS) : 0,
    };
  } finally {
    // Not awaited: a host that is silent would not say goodbye either.
    void client.end();
    setTimeout(() => socketOf(client).destroy(), ANSWER_WITHIN_MS).unref();
  }
}

async function look(client: Pick<PoolClient, 'query'>): Promise<Server> {
  const { rows } = await client.query<{ pid: number; read_only: string }>(
    "select pg_backend_pid() as pid, current_setting('transaction_read_only') as read_only",
  );
  const socket = socketOf(client);
  return {
    address: `${socket.remoteAddress}:${socket.remotePort}`,
    // A pooler makes up the number that it gives its clients.
    isPooled: rows[0]?.pid !== (client as { readonly processID?: number }).processID,
    takesWrites: rows[0]?.read_only === 'off',
  };
}

/** How often a server and its forebears were promoted: the first eight digits of the name of its log. */
async function timelineOf(client: Pick<PoolClient, 'query'>): Promise<number> {
  try {
    const { rows } = await client.query<{ file: string }>(
      'select pg_walfile_name(pg_current_wal_lsn()) as file',
    );
    return Number.parseInt(rows[0]?.file.slice(0, 8) ?? '0', 16);
  } catch {
    // Not every managed PostgreSQL lets everybody ask.
    return 0;
  }
}

const socketOf = (client: object): Socket =>
  (client as { readonly connection: { readonly stream: Socket } }).connection.stream;

const isRead = (text: string): boolean => /^\s*select\b/i.test(text);

/** Whether a statement has changed something. */
const isWrite = ({
  command,
  rowCount,
}: {
  readonly command?: string;
  readonly rowCount?: number | null;
}): boolean => /^(INSERT|UPDATE|DELETE|MERGE)$/.test(command ?? '') && (rowCount ?? 0) > 0;

const toError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));

const takesNoWrites = (): Error => Object.assign(new Error('The server takes no writes.'), { code: '25006' });

const notInTime = (): Error =>
  Object.assign(new Error('PostgreSQL gave no answer in time.'), { code: 'ETIMEDOUT' });

const isRefusedParameter = (error: unknown): boolean =>
  error instanceof AggregateError
    ? error.errors.some(isRefusedParameter)
    : error instanceof Error && /startup parameter/i.test(error.message);

/** All connections are in use: that says nothing about the host. */
const isQueueTimeout = (error: unknown): boolean =>
  error instanceof Error && error.message === 'timeout exceeded when trying to connect';

/** Whether not even an answer came from there. PostgreSQL's own errors have a severity. */
const isUnreachable = (error: unknown): boolean =>
  error instanceof AggregateError
    ? error.errors.every(isUnreachable)
    : !Object.hasOwn(Object(error), 'severity');

/**
 * What a promise gives, unless it takes too long.
 * @param onLate called then, before the error is thrown
 */
async function within<Result>(promise: Promise<Result>, ms: number, onLate = () => {}): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      onLate();
      reject(notInTime());
    }, ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    // It may still fail, when nobody waits for it any more.
    promise.catch(() => {});
  }
}

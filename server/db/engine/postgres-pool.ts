// Connections to PostgreSQL for Kysely's dialect. Which host they lead to: postgres-failover.ts. What a statement does on one:
// postgres-client.ts.
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type { CustomTypesConfig, PoolClient } from 'pg';

import type { LastWrites } from '#server/db/engine/last-writes.ts';
import { isOutage } from '#server/db/engine/outages.ts';
import { wrapClient } from '#server/db/engine/postgres-client.ts';
import { CONNECT_WITHIN_MS, createFailover, type HostPool } from '#server/db/engine/postgres-failover.ts';
import {
  ANSWER_WITHIN_MS,
  identifyServer,
  takesNoWrites,
  within,
} from '#server/db/engine/postgres-server.ts';
import { createStatementNames } from '#server/db/engine/prepared-statements.ts';
import { mustTakeWrites, parametersOf } from '#server/platform/postgres-hosts.ts';

/** A connection that is silent for this long is checked by TCP. */
const KEEPALIVE_AFTER_MS = 10_000;

type PostgresSettings = {
  /** DATABASE_URL. */
  readonly url: string;
  readonly types: CustomTypesConfig;
  /** How long PostgreSQL may take for a statement; 0: no limit. Milliseconds. */
  readonly statementTimeoutMs: number;
  /** Called when an idle connection breaks; another one is opened when it is needed. */
  readonly onConnectionError: (error: Error) => void;
  readonly writes: Pick<LastWrites, 'succeeded' | 'failed'>;
};

/**
 * Opens a pool for a dialect. It connects when a connection is first needed.
 * @returns a pool whose `connect` fails with an error that {@link isOutage} knows when no host can be used; an AggregateError with one
 *   error for each of several hosts, in their order
 */
export function openPostgresPool({
  url,
  types,
  statementTimeoutMs,
  onConnectionError,
  writes,
}: PostgresSettings): PostgresPool {
  const onlyWritable = mustTakeWrites(url);
  const prepare = parametersOf(url).get('prepare');
  const nameOf = createStatementNames();
  const wrapped = new WeakMap<PoolClient, PostgresPoolClient>();
  // PgBouncer refuses parameters that it does not know.
  let takesTimeoutAtStart = statementTimeoutMs > 0;
  let isEnding = false;

  const failover = createFailover({
    url,
    clientSettings: (host) => ({
      connectionString: host,
      types,
      // Statements that are begun together are sent together.
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_AFTER_MS,
      ...(takesTimeoutAtStart && { statement_timeout: statementTimeoutMs }),
    }),
    onConnectionError,
  });

  async function connect(): Promise<PostgresPoolClient> {
    const start = Date.now();
    const mayTryAgain = (error: unknown) =>
      onlyWritable &&
      !isEnding &&
      isOutage(error) &&
      !isQueueTimeout(error) &&
      Date.now() - start <= ANSWER_WITHIN_MS;
    for (;;) {
      const askedForTimeout = takesTimeoutAtStart;
      let host: HostPool | null = null;
      try {
        host = await failover.find();
        return await connectTo(host);
      } catch (error) {
        if (askedForTimeout && isRefusedParameter(error)) takesTimeoutAtStart = false;
        // Another host may have taken over, unless a search has just found none.
        else if (host === null || !mayTryAgain(error)) throw error;
        if (host !== null) failover.leave(host);
      }
    }
  }

  async function connectTo(host: HostPool): Promise<PostgresPoolClient> {
    const client = await host.pool.connect();
    const known = wrapped.get(client);
    if (known !== undefined) return known;
    try {
      const server = await within(identifyServer(client), CONNECT_WITHIN_MS);
      if (onlyWritable && !server.takesWrites) throw takesNoWrites();
      // Some poolers give their clients the number of one of PostgreSQL's processes.
      const isPooled = server.isPooled || prepare === 'false';
      const mayPrepare = prepare === 'true' || !isPooled;
      const one = wrapClient(client, {
        statementTimeoutMs,
        setsTimeoutItself: isPooled,
        nameOf: mayPrepare ? nameOf : () => undefined,
        writes,
        // All other connections lead to the same server.
        onStandby: () => failover.leave(host),
        onStalled: (answer) => failover.keepStalled(host, { client, server, answer }),
      });
      wrapped.set(client, one);
      return one;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  return {
    options: {},
    connect,
    end: () => {
      isEnding = true;
      return failover.end();
    },
  };
}

const isRefusedParameter = (error: unknown): boolean =>
  error instanceof AggregateError
    ? error.errors.some(isRefusedParameter)
    : error instanceof Error && /startup parameter/i.test(error.message);

/** All connections are in use: that says nothing about the host. */
const isQueueTimeout = (error: unknown): boolean =>
  error instanceof Error && error.message === 'timeout exceeded when trying to connect';

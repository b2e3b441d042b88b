// Which PostgreSQL host to use: of several, the one that takes writes. When it fails or becomes a standby, its connections are given up
// and the next caller searches again (docs/decisions/0027-a-database-that-fails-over.md).
import { setTimeout as wait } from 'node:timers/promises';

import { Pool, type ClientConfig, type PoolClient } from 'pg';

import {
  askHost,
  isUnreachable,
  socketOf,
  takesNoWrites,
  type Server,
} from '#server/db/engine/postgres-server.ts';
import { hostUrls } from '#server/platform/postgres-hosts.ts';

const POOL_SIZE = 10;
/** How long a caller waits for a connection. */
export const CONNECT_WITHIN_MS = 5_000;
/** How often to check a server that does not answer a statement. */
const CHECK_EVERY_MS = 2_000;

/** The connections to one host, for as long as it is the one to use. */
export type HostPool = {
  readonly pool: Pool;
  /** Connections whose statement has outlasted its time. They count as in use until it ends: new ones would stall as well. */
  readonly stalled: Map<PoolClient, Server>;
};

export type Failover = {
  /** Returns the connections to the host to use. Callers at the same time share one search. */
  readonly find: () => Promise<HostPool>;
  /** Gives a host up: what is under way there may end there. The next `find` searches again. */
  readonly leave: (host: HostPool) => void;
  /** Takes back a connection whose statement has not ended: it is closed when the statement ends, or its host is lost. */
  readonly keepStalled: (
    host: HostPool,
    stalled: { readonly client: PoolClient; readonly server: Server; readonly answer: Promise<unknown> },
  ) => void;
  readonly end: () => Promise<void>;
};

/**
 * @param url DATABASE_URL, with one host or several
 * @param clientSettings the settings of a connection to one of them
 * @param onConnectionError called when an idle connection breaks
 */
export function createFailover({
  url,
  clientSettings,
  onConnectionError,
}: {
  readonly url: string;
  readonly clientSettings: (host: string) => ClientConfig;
  readonly onConnectionError: (error: Error) => void;
}): Failover {
  const hosts = hostUrls(url);
  let current: HostPool | null = null;
  let searching: Promise<HostPool> | null = null;
  const endings = new Set<Promise<void>>();

  function openHost(host: string): HostPool {
    const pool = new Pool({
      ...clientSettings(host),
      max: POOL_SIZE,
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
    });
    pool.on('error', onConnectionError);
    // The pool listens to its idle connections only. One that breaks between two statements of a transaction would end the
    // whole process.
    pool.on('connect', (client) => client.on('error', onConnectionError));
    return { pool, stalled: new Map() };
  }

  /** Asks all hosts at once. Of two that take writes, the one that was promoted later is the primary. */
  async function findPrimary(): Promise<{ readonly host: string; readonly address: string }> {
    const answers = await Promise.allSettled(hosts.map((host) => askHost(clientSettings(host))));
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

  function find(): Promise<HostPool> {
    if (current !== null) return Promise.resolve(current);
    searching ??= (hosts.length > 1 ? findPrimary() : Promise.resolve({ host: url }))
      .then(({ host }) => (current = openHost(host)))
      .finally(() => (searching = null));
    return searching;
  }

  function leave(host: HostPool): void {
    if (current !== host) return;
    current = null;
    for (const client of host.stalled.keys()) socketOf(client).destroy();
    const ending = host.pool.end().catch(() => {});
    endings.add(ending);
    void ending.then(() => endings.delete(ending));
  }

  async function releaseAfter(host: HostPool, client: PoolClient, answer: Promise<unknown>): Promise<void> {
    await Promise.allSettled([answer]);
    host.stalled.delete(client);
    client.release(true);
  }

  /** While connections stall, checks whether they still lead to the host that takes writes, and cuts them if not. */
  async function watch(host: HostPool): Promise<void> {
    while (current === host && host.stalled.size > 0) {
      try {
        const primary = hosts.length > 1 ? await findPrimary() : await askHost(clientSettings(url));
        if ([...host.stalled.values()].some(({ address }) => address !== primary.address)) return leave(host);
      } catch (error) {
        // An error of PostgreSQL's own, such as that it is full, shows that the server is there.
        if (isUnreachable(error)) return leave(host);
      }
      await wait(CHECK_EVERY_MS, undefined, { ref: false });
    }
  }

  return {
    find,
    leave,
    keepStalled: (host, { client, server, answer }) => {
      host.stalled.set(client, server);
      void releaseAfter(host, client, answer);
      // A statement at a host that was given up comes to nothing.
      if (current !== host) socketOf(client).destroy();
      else if (host.stalled.size === 1) void watch(host);
    },
    end: async () => {
      await searching?.catch(() => {});
      if (current !== null) leave(current);
      await Promise.all(endings);
    },
  };
}

const toError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));

// What a connection to PostgreSQL leads to: which server, whether it takes writes, and whether a pooler stands in between.
import type { Socket } from 'node:net';

import { Client, type ClientConfig, type PoolClient } from 'pg';

/** How long a host may take to say what it is. */
export const ANSWER_WITHIN_MS = 3_000;

/** PostgreSQL's code for "read-only transaction", which a standby answers to a write. */
export const READ_ONLY = '25006';

export type Server = {
  /** Numeric, with the port. */
  readonly address: string;
  /** Another program stands in between, which may give the next transaction another session. */
  readonly isPooled: boolean;
  readonly takesWrites: boolean;
};

/** Finds out what an open connection leads to. */
export async function identifyServer(client: Pick<PoolClient, 'query'>): Promise<Server> {
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

/**
 * Opens a connection to find out what a host is.
 * @returns also its timeline, which grows with each promotion; 0 for a host that takes no writes
 */
export async function askHost(settings: ClientConfig): Promise<Server & { readonly timeline: number }> {
  const client = new Client({ ...settings, connectionTimeoutMillis: ANSWER_WITHIN_MS });
  client.on('error', () => {});
  try {
    await client.connect();
    const server = await within(identifyServer(client), ANSWER_WITHIN_MS);
    return {
      ...server,
      timeline: server.takesWrites ? await within(timelineOf(client), ANSWER_WITHIN_MS) : 0,
    };
  } finally {
    // Not awaited: a silent host would not answer the goodbye either.
    void client.end();
    setTimeout(() => socketOf(client).destroy(), ANSWER_WITHIN_MS).unref();
  }
}

/** Reads how often a server and its forebears were promoted: the first eight digits of the name of its log. */
async function timelineOf(client: Pick<PoolClient, 'query'>): Promise<number> {
  try {
    const { rows } = await client.query<{ file: string }>(
      'select pg_walfile_name(pg_current_wal_lsn()) as file',
    );
    return Number.parseInt(rows[0]?.file.slice(0, 8) ?? '0', 16);
  } catch {
    // Some managed PostgreSQL servers do not let every user ask.
    return 0;
  }
}

export const socketOf = (client: object): Socket =>
  (client as { readonly connection: { readonly stream: Socket } }).connection.stream;

export const takesNoWrites = (): Error =>
  Object.assign(new Error('The server takes no writes.'), { code: READ_ONLY });

export const notInTime = (): Error =>
  Object.assign(new Error('PostgreSQL gave no answer in time.'), { code: 'ETIMEDOUT' });

/** Whether no answer came at all. PostgreSQL's own errors have a severity. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof AggregateError
    ? error.errors.every(isUnreachable)
    : !Object.hasOwn(Object(error), 'severity');

/**
 * Waits for a promise, up to a limit.
 * @param onLate called at the limit, before the error is thrown
 * @throws an error with the code ETIMEDOUT at the limit
 */
export async function within<Result>(
  promise: Promise<Result>,
  ms: number,
  onLate = () => {},
): Promise<Result> {
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
    // It may still fail after the limit.
    promise.catch(() => {});
  }
}

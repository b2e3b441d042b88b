// The folder is removed however the tests end: success, failure, Ctrl-C or SIGKILL.
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

/** Its standard input closes when the process that created the folder ends. SIGINT is PostgreSQL's fast shutdown. */
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
  // Detached from the terminal's Ctrl-C.
  const keeper = spawn('/bin/sh', ['-c', KEEPER, 'sh', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  keeper.unref();
  keeper.stdin.on('error', () => {});
  const running = new Set<number>();
  const tell = () => keeper.stdin.write(`${[...running].join(' ')}\n`);
  return {
    path: folder,
    runs: (child) => {
      const { pid } = child;
      if (pid === undefined) return;
      running.add(pid);
      tell();
      child.once('exit', () => {
        running.delete(pid);
        tell();
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

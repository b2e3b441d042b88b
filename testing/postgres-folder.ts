// A PostgreSQL's folder, removed however the tests end: success, failure, Ctrl-C or SIGKILL.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export type PostgresFolder = {
  readonly path: string;
  /** Replaces the list of PostgreSQL processes in this folder. */
  readonly runs: (...pids: readonly number[]) => void;
  /** Stops these processes and removes the folder. */
  readonly remove: () => Promise<void>;
};

/**
 * Its input ends when the process that made the folder ends; then it stops the processes named in the last line and removes the
 * folder. SIGINT is PostgreSQL's fast shutdown; SIGKILL follows after ten seconds.
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
  // Detached from the terminal's Ctrl-C.
  const keeper = spawn('/bin/sh', ['-c', KEEPER, 'sh', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  keeper.unref();
  keeper.stdin.on('error', () => {});
  return {
    path: folder,
    runs: (...pids) => keeper.stdin.write(`${pids.join(' ')}\n`),
    remove: async () => {
      keeper.ref();
      const removed = once(keeper, 'exit');
      keeper.stdin.end();
      await removed;
    },
  };
}

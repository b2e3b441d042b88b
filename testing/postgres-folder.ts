// The folder of a PostgreSQL. It is removed however the tests end: done, failed, Ctrl-C or killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export type PostgresFolder = {
  readonly path: string;
  /** Replaces the list of the processes that run in it. */
  readonly runs: (...pids: readonly number[]) => void;
  /** Stops them and removes the folder. */
  readonly remove: () => Promise<void>;
};

/**
 * Waits for the end of its input, which comes when the process that made the folder ends, and removes the folder. Every line names the processes
 * that run in it by then. SIGINT is PostgreSQL's fast shutdown; what has not ended after ten seconds is killed.
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

/** Makes one under the folder for temporary files. */
export function makePostgresFolder(prefix: string): PostgresFolder {
  const folder = mkdtempSync(path.join(os.tmpdir(), prefix));
  // Detached: a terminal's Ctrl-C must not reach it.
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

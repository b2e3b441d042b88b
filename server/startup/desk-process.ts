// The desk in a browser runs in another process, so that no export or report blocks the loop that answers visitors. This one starts it,
// starts it again when it ends, and ends it with itself. It knows the file and nothing else of the desk.
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';

import type { Logger } from 'pino';

import { PROJECT_FOLDER } from '#server/platform/project-folder.ts';

const FILE = path.join(PROJECT_FOLDER, 'desk', 'serve.js');
/** Before it is started again: the first time, and at most. */
const PAUSE_MS = { first: 1_000, longest: 60_000 } as const;
/** One that ran for so long is started again after the first pause. */
const STEADY_MS = 60_000;
/** A desk that is to end answers what it has in hand within this time. A long export is cut off, and its browser says so. */
const END_WITHIN_MS = 5_000;

export type DeskProcess = { readonly stop: () => Promise<void> };

/** Starts it. @param file for tests: another file to run */
export function startDeskProcess(logger: Pick<Logger, 'error' | 'warn'>, file = FILE): DeskProcess {
  let isStopping = false;
  let child: ChildProcess | null = null;
  let pauseMs: number = PAUSE_MS.first;
  let timer: NodeJS.Timeout | undefined;

  const start = (): void => {
    const startedAt = performance.now();
    // It listens on DESK_PORT, and has no part in the sockets that this process was given.
    const { LISTEN_FDS: _fds, LISTEN_PID: _pid, ...env } = process.env;
    // Its standard error passes through here: a process that waits for the end of ours must not wait for its.
    const started = spawn(process.execPath, [file], { env, stdio: ['ignore', 'inherit', 'pipe', 'ipc'] });
    child = started;
    started.stderr?.pipe(process.stderr, { end: false });
    let isOver = false;
    const over = (why: object): void => {
      if (isOver) return;
      isOver = true;
      child = null;
      if (isStopping) return;
      if (performance.now() - startedAt >= STEADY_MS) pauseMs = PAUSE_MS.first;
      logger.error(
        { ...why, startsAgainInMs: pauseMs },
        'The process of the desk ended. It is started again; the page serves on.',
      );
      timer = setTimeout(start, pauseMs);
      pauseMs = Math.min(2 * pauseMs, PAUSE_MS.longest);
    };
    started.once('error', (error) => over({ err: error }));
    started.once('exit', (code, signal) => over({ code, signal }));
  };
  start();

  return {
    stop: async () => {
      isStopping = true;
      clearTimeout(timer);
      const ending = child;
      if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return;
      await new Promise<void>((resolve) => {
        const kill = setTimeout(() => ending.kill('SIGKILL'), END_WITHIN_MS);
        ending.once('exit', () => {
          clearTimeout(kill);
          resolve();
        });
        // The end of the channel is the sign to end, as it is when this process is killed.
        if (ending.connected) ending.disconnect();
        else ending.kill('SIGTERM');
      });
    },
  };
}

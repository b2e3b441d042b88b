// The desk runs in a separate process, so exports don't block visitors.
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';

import type { Logger } from 'pino';

import { PROJECT_FOLDER } from '#server/platform/files.ts';

const DESK_FILE = path.join(PROJECT_FOLDER, 'desk', 'serve.js');
/** As in package.json's `desk` script. Without it, the process uses 193 MB after its start instead of 149. */
const SMALLER_HEAP = '--max-semi-space-size=4';
const PAUSE_MS = { first: 1_000, longest: 60_000 } as const;
const STABLE_AFTER_MS = 60_000;
/** Time for pending responses. A longer export is cut off, which the browser reports. */
const STOP_TIMEOUT_MS = 5_000;

export type DeskProcess = { readonly stop: () => Promise<void> };

export function startDeskProcess(logger: Pick<Logger, 'error'>): DeskProcess {
  let isStopping = false;
  let child: ChildProcess | null = null;
  let pauseMs: number = PAUSE_MS.first;
  let timer: NodeJS.Timeout | undefined;
  // Without a listener, a full disk would end this process once the desk reports an error.
  process.stderr.on('error', () => {});

  const start = (): void => {
    const startedAt = performance.now();
    let hasEnded = false;
    const onEnd = (reason: object): void => {
      if (hasEnded) return;
      hasEnded = true;
      child = null;
      if (isStopping) return;
      if (performance.now() - startedAt >= STABLE_AFTER_MS) pauseMs = PAUSE_MS.first;
      logger.error(
        { ...reason, startsAgainInMs: pauseMs },
        'The desk process ended and will be restarted. The page keeps running.',
      );
      timer = setTimeout(start, pauseMs);
      pauseMs = Math.min(2 * pauseMs, PAUSE_MS.longest);
    };
    // The desk listens on DESK_PORT and must not use this process's sockets.
    const { LISTEN_FDS: _fds, LISTEN_PID: _pid, ...env } = process.env;
    // Standard error is piped, because a program that waits for the end of this process's standard error would otherwise wait
    // for the desk too.
    let started: ChildProcess;
    try {
      started = spawn(process.execPath, [SMALLER_HEAP, DESK_FILE], {
        env,
        stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
      });
    } catch (error) {
      // Node throws some errors instead of emitting them, such as ENOMEM.
      onEnd({ err: error });
      return;
    }
    child = started;
    started.stderr?.on('data', (bytes: Buffer) => process.stderr.write(bytes));
    started.once('error', (error) => onEnd({ err: error }));
    started.once('exit', (code, signal) => onEnd({ code, signal }));
  };
  start();

  return {
    stop: async () => {
      isStopping = true;
      clearTimeout(timer);
      const ending = child;
      if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return;
      await new Promise<void>((resolve) => {
        const kill = setTimeout(() => ending.kill('SIGKILL'), STOP_TIMEOUT_MS);
        ending.once('exit', () => {
          clearTimeout(kill);
          resolve();
        });
        // The desk exits when the channel closes, even if this process is killed.
        if (ending.connected) ending.disconnect();
        else ending.kill('SIGTERM');
      });
    },
  };
}

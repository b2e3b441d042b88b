import { addAbortListener } from 'node:events';
import process from 'node:process';
import { createInterface } from 'node:readline/promises';

import { openDeskService } from '#desk/commands/command.ts';
import { explainWriteErrors } from '#desk/commands/output-file.ts';
import { INTERRUPTED, describeWithoutMessage, runDesk } from '#desk/commands/all-commands.ts';
import { createTerminal, paintFor } from '#desk/commands/terminal.ts';
import { endWithSentence } from '#server/platform/system-errors.ts';
import { createLogger } from '#server/log/logger.ts';
import type { Service } from '#server/startup/service.ts';
import { readTimeZone } from '#server/settings/env-file.ts';

endWithSentence(describeWithoutMessage);
const interrupted = new AbortController();
/** npm forwards each Ctrl-C, so one key press arrives twice. */
const REPEATED_SIGNAL_MS = 1_000;
let firstSignalAt: number | null = null;
// The first signal lets the command remove partial files. A later one kills a command that hangs.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    firstSignalAt ??= performance.now();
    if (performance.now() - firstSignalAt > REPEATED_SIGNAL_MS) process.exit(INTERRUPTED);
    interrupted.abort();
  });
}
// A reader that stops early (head, less) is not an error; print reports all others.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') process.exit(0);
});

const { note, progress, endProgress } = createTerminal(process.stderr);
let service: Promise<Service> | undefined;

process.exitCode = await runDesk(
  {
    service: (database, instance) =>
      (service ??= openDeskService(
        { logger: createLogger('warn', process.stderr), announce: note, database },
        instance,
      )),
    print: async (text) => {
      interrupted.signal.throwIfAborted();
      endProgress();
      const written = Promise.withResolvers<void>();
      // The reader of a pipe may have stopped reading, so Ctrl-C must end the wait.
      using _stop = addAbortListener(interrupted.signal, () => written.reject(interrupted.signal.reason));
      process.stdout.write(text, (error) => (error ? written.reject(error) : written.resolve()));
      await explainWriteErrors('Standard output', () => written.promise);
    },
    note,
    input: () => (process.stdin.isTTY ? null : process.stdin),
    confirm: async (question) => {
      endProgress();
      if (!process.stdin.isTTY) return false;
      using terminal = createInterface({ input: process.stdin, output: process.stderr });
      // In raw mode, Ctrl-C arrives as a key; Ctrl-D closes the question.
      terminal.once('SIGINT', () => interrupted.abort());
      const closed = new AbortController();
      terminal.once('close', () => closed.abort());
      const signal = AbortSignal.any([interrupted.signal, closed.signal]);
      const answer = await terminal.question(question, { signal }).catch(() => '');
      interrupted.signal.throwIfAborted();
      return /^y(es)?$/i.test(answer);
    },
    progress,
    paint: paintFor(process.stdout),
    signal: interrupted.signal,
    clock: () => Date.now(),
    timeZone: readTimeZone,
  },
  process.argv.slice(2),
);
endProgress();
await service?.then(
  ({ close }) => close(),
  () => {},
);
// Otherwise unread output would keep the process alive.
if (interrupted.signal.aborted) process.exit();

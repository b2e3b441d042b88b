import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';

import { until } from '#testing/until.ts';

const READY_WITHIN_MS = 60_000;
const POLL_EVERY_MS = 10;

export type Program = AsyncDisposable & {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | NodeJS.Signals | null>;
};

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

/** Also waits for child processes that share its output. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM') {
  if (!hasEnded(child)) {
    const closed = once(child, 'close');
    child.kill(signal);
    await closed;
  }
  return child.exitCode ?? child.signalCode;
}

/** The variables that a program needs from this process's environment. */
export const ownEnvironment = () => ({ PATH: process.env['PATH'], HOME: process.env['HOME'] });

/**
 * Starts Node and waits until its output matches `ready`. Throws with the output if the program ends first or takes too long.
 * @returns also the match
 */
export async function startProgram(
  args: readonly string[],
  ready: RegExp,
  options: Pick<SpawnOptions, 'cwd' | 'env'>,
): Promise<Program & { readonly found: readonly string[] }> {
  const { env, ...others } = options;
  const child = spawn(process.execPath, args, {
    ...others,
    env: { ...ownEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const stop = (signal?: NodeJS.Signals) => endProcess(child, signal);
  let found: RegExpExecArray | null = null;
  try {
    await until(
      () => {
        found = ready.exec(output);
        return found !== null || hasEnded(child);
      },
      READY_WITHIN_MS,
      POLL_EVERY_MS,
    );
  } catch {
    await stop('SIGKILL');
  }
  if (found === null)
    throw new Error(`The program ended with ${child.exitCode}, or was not ready in time:\n${output}`);
  return { child, output: () => output, stop, found, [Symbol.asyncDispose]: async () => void (await stop()) };
}

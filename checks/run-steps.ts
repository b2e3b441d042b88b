import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export type Step = {
  /** A script of package.json. */
  readonly script: string;
  /** Scripts that must have passed before. If one fails, this step is skipped. */
  readonly after?: readonly string[];
};

/**
 * Runs scripts side by side, in the given order where `after` allows it. The output of a script that fails is printed again at the end,
 * after the output of the last step.
 * @returns the scripts that failed
 */
export async function runSteps(steps: readonly Step[], atOnce: number): Promise<readonly string[]> {
  const waiting = [...steps];
  const running = new Map<string, Promise<void>>();
  const passed = new Set<string>();
  const failed = new Map<string, string>();
  const last = steps.at(-1)?.script;
  let lastWords = '';
  const isReady = ({ after = [] }: Step) => after.every((script) => passed.has(script));

  const run = async ({ script }: Step): Promise<void> => {
    const { exitCode, said } = await runScript(script, script === last ? () => {} : printLine);
    if (script === last) lastWords = said;
    if (exitCode === 0) passed.add(script);
    else failed.set(script, said);
    running.delete(script);
  };
  for (;;) {
    while (running.size < atOnce) {
      const step = waiting.find(isReady);
      if (step === undefined) break;
      waiting.splice(waiting.indexOf(step), 1);
      running.set(step.script, run(step));
    }
    if (running.size === 0) break;
    await Promise.race(running.values());
  }
  process.stdout.write(lastWords);
  for (const [script, said] of failed) process.stdout.write(`\n> ${script} FAILED\n${said}`);
  return [...failed.keys()];
}

const printLine = (script: string, line: string): void => void process.stdout.write(`${script}: ${line}\n`);

async function runScript(
  script: string,
  onLine: (script: string, line: string) => void,
): Promise<{ readonly exitCode: number | null; readonly said: string }> {
  const child = spawn(process.execPath, ['--run', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  const read = async (stream: NodeJS.ReadableStream) => {
    for await (const line of createInterface({ input: stream })) {
      said += `${line}\n`;
      onLine(script, line);
    }
  };
  const exited = once(child, 'exit');
  await Promise.all([read(child.stdout), read(child.stderr)]);
  const [exitCode] = (await exited) as [number | null];
  return { exitCode, said };
}

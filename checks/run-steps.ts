import { spawn } from 'node:child_process';

/**
 * Runs rows of scripts. If a script fails, the rest of its row is skipped.
 * @param rows script names; those in one row depend on each other
 */
export async function runSteps(
  rows: readonly (readonly string[])[],
  atOnce: number,
): Promise<readonly string[]> {
  const failed: string[] = [];
  const last = rows.at(-1)?.at(-1);
  let lastWords = '';
  const queue = rows.values();
  const work = async () => {
    for (const row of queue) {
      for (const script of row) {
        const { passed, said } = await run(script);
        const words = `\n> ${script}${passed ? '' : ' FAILED'}\n${said}`;
        if (script === last) lastWords = words;
        else process.stdout.write(words);
        if (passed) continue;
        failed.push(script);
        break;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  process.stdout.write(lastWords);
  return failed;
}

function run(script: string): Promise<{ passed: boolean; said: string }> {
  const child = spawn(process.execPath, ['--run', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ passed: code === 0, said }));
  });
}

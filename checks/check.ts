// Runs every check, plus the npm scripts given as arguments, the longest first.
import { spawn } from 'node:child_process';

const CHECKS = [
  ['check:format'],
  ['check:lint'],
  ['build', 'check:budget', 'check:browsers'],
  ['check:unused', 'check:readme', 'check:commands', 'check:settings', 'check:english'],
  // The audit is last, so a note that it was skipped is not overlooked.
  ['check:audit'],
];

const named = process.argv.slice(2).map((script) => [script]);
const failedScripts = await runSteps([...named, ...CHECKS], 3);
if (failedScripts.length > 0) {
  process.stderr.write(`\nFailed: ${failedScripts.join(', ')}\n`);
  process.exitCode = 1;
}

/**
 * Runs rows of scripts. If a script fails, the rest of its row is skipped.
 * @param rows script names; those in one row depend on each other
 */
async function runSteps(rows: readonly (readonly string[])[], atOnce: number): Promise<readonly string[]> {
  const failed: string[] = [];
  const last = rows.at(-1)?.at(-1);
  let lastOutput = '';
  const queue = rows.values();
  const work = async () => {
    for (const row of queue) {
      for (const script of row) {
        const { passed, output } = await run(script);
        const block = `\n> ${script}${passed ? '' : ' FAILED'}\n${output}`;
        if (script === last) lastOutput = block;
        else process.stdout.write(block);
        if (passed) continue;
        failed.push(script);
        break;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  process.stdout.write(lastOutput);
  return failed;
}

function run(script: string): Promise<{ passed: boolean; output: string }> {
  const child = spawn(process.execPath, ['--run', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ passed: code === 0, output }));
  });
}

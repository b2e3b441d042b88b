// Runs every check, plus the npm scripts given as arguments, the longest first.
import { runSteps } from '#checks/run-steps.ts';

const CHECKS = [
  ['check:format'],
  ['check:lint'],
  ['build', 'check:budget', 'check:browsers'],
  ['check:types'],
  ['check:unused', 'check:readme', 'check:commands', 'check:settings', 'check:english'],
  // The audit is last, so a note that it was skipped is not overlooked.
  ['check:audit'],
];

const named = process.argv.slice(2).map((script) => [script]);
const failed = await runSteps([...named, ...CHECKS], 3);
if (failed.length > 0) {
  process.stderr.write(`\nFailed: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}

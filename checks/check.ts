// Runs every check, and the npm scripts that the command line names beside them. The longest begins first, so that two cores are
// busy until the end.
import { runSteps } from '#checks/run-steps.ts';

const CHECKS = [
  ['check:format'],
  ['check:lint'],
  ['build', 'check:budget', 'check:browsers'],
  ['check:types'],
  ['check:unused', 'check:readme', 'check:commands', 'check:settings'],
  // Last: what it could not look at is said last of all.
  ['check:audit'],
];

const named = process.argv.slice(2).map((script) => [script]);
const failed = await runSteps([...named, ...CHECKS], 3);
if (failed.length > 0) {
  process.stderr.write(`\nFailed: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}

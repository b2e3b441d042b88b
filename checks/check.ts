// `npm run check` runs every check; `npm test` runs all tests at the same time. The longest steps come first.
import { type Step, runSteps } from '#checks/run-steps.ts';
import { PROCESSES_VARIABLE } from '#testing/test-process.ts';

const TESTS: readonly Step[] = [
  { script: 'test:set-up' },
  { script: 'test:sites' },
  { script: 'test:browser', after: ['test:set-up', 'test:sites'] },
  { script: 'test:logic', after: ['test:set-up', 'test:sites'] },
];

const CHECKS: readonly Step[] = [
  { script: 'check:format' },
  { script: 'check:lint' },
  { script: 'build' },
  { script: 'check:budget', after: ['build'] },
  { script: 'check:browsers', after: ['build'] },
  { script: 'check:types' },
  ...['check:unused', 'check:readme', 'check:commands', 'check:settings', 'check:english'].map((script) => ({
    script,
  })),
  // The audit is last, so a note that it was skipped is not overlooked.
  { script: 'check:audit' },
];

const withTests = process.argv.includes('--tests');
// The browser tests keep a core busy.
process.env[PROCESSES_VARIABLE] ??= '2';
const failed = await runSteps([...(withTests ? TESTS : []), ...CHECKS], 3);
if (failed.length > 0) {
  process.stderr.write(`\nFailed: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}

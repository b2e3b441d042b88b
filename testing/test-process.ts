import path from 'node:path';

/** Holds the paths of the files, separated like PATH. */
export const TEST_FILES_VARIABLE = 'TEST_FILES';

const TEST_TIMEOUT_MS = 180_000;

export const TEST_PROCESS: readonly string[] = [
  '--import',
  path.join(import.meta.dirname, 'untracked-promises.ts'),
  '--test-force-exit',
  `--test-timeout=${TEST_TIMEOUT_MS}`,
  '--test-reporter=spec',
  path.join(import.meta.dirname, 'load-test-files.ts'),
];

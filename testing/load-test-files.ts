// Reports a file that throws while it is loaded as a failed test, because its other tests may already be registered.
import { before, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

import { TEST_FILES_VARIABLE } from '#testing/test-process.ts';

const { promise: allLoaded, resolve } = Promise.withResolvers<void>();
// Otherwise, the run could end between two files.
before(() => allLoaded);
for (const file of (process.env[TEST_FILES_VARIABLE] ?? '').split(path.delimiter)) {
  try {
    await import(pathToFileURL(path.resolve(file)).href);
  } catch (error) {
    it(`loads ${file}`, () => {
      throw error;
    });
  }
}
resolve();

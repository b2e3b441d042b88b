// Without isolation, Node ignores an error in a file that has already registered a test, so the tests after it would be missing
// from a green run.
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

import { TEST_FILES_VARIABLE } from '#testing/test-process.ts';

for (const file of (process.env[TEST_FILES_VARIABLE] ?? '').split(path.delimiter)) {
  try {
    await import(pathToFileURL(path.resolve(file)).href);
  } catch (error) {
    it(`loads ${file}`, () => {
      throw error;
    });
  }
}

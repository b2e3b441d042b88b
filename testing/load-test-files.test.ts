import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

import { inFolder } from '#testing/folder.ts';
import { TEST_FILES_VARIABLE, TEST_PROCESS } from '#testing/test-process.ts';

it('a test file that throws while loading fails the run, and the other files still run', () =>
  inFolder((folder) => {
    const file = (name: string, source: string): string => {
      const full = path.join(folder, name);
      writeFileSync(full, `import { it } from 'node:test';\n${source}`);
      return full;
    };
    const files = [
      file('half.test.mjs', `it('of the first half', () => {});\nthrow new Error('no server');`),
      file('whole.test.mjs', `it('of another file', () => {});`),
    ];
    const { status, stdout } = spawnSync(process.execPath, TEST_PROCESS, {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], [TEST_FILES_VARIABLE]: files.join(path.delimiter) },
    });
    assert.equal(status, 1);
    for (const title of ['✔ of the first half', '✔ of another file', `✖ loads ${files[0]}`])
      assert.ok(stdout.includes(title), `${title}:\n${stdout}`);
  }));

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

import { FAULTS, plantedSource } from '#testing/planted-faults.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');

it('every planted fault still matches its file, and its tests exist', () => {
  for (const fault of FAULTS) {
    plantedSource(PROJECT_FOLDER, fault);
    for (const test of fault.tests) assert.ok(existsSync(path.join(PROJECT_FOLDER, test)), test);
  }
});

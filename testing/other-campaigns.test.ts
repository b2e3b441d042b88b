import assert from 'node:assert/strict';
import { globSync, statSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import * as campaigns from '#testing/other-campaigns.ts';

const touched = (folder: string): (readonly [string, bigint])[] =>
  globSync('**/*', { cwd: folder }).map(
    (file) => [file, statSync(path.join(folder, file), { bigint: true }).ctimeNs] as const,
  );

for (const [name, make] of Object.entries(campaigns)) {
  if (typeof make === 'string') continue;
  test(`${name} returns the same folder on a second call and writes nothing`, () => {
    const folder = make();
    const before = touched(folder);
    assert.ok(before.some(([file]) => file === 'landing.yaml'));
    assert.equal(make(), folder);
    assert.deepEqual(touched(folder), before);
  });
}

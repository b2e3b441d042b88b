// During a collection, V8 forgets the shape of objects that no longer exist.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { inFolder } from '#testing/folder.ts';

const COLLECT = path.join(import.meta.dirname, 'collect-garbage.ts');
/** Each tick ends before the next begins, so none is pending during the collection. */
const PROGRAM = `
  const { collectGarbage } = await import(${JSON.stringify(COLLECT)});
  const tick = async () => {
    for (let count = 0; count < 3000; count += 1) {
      process.nextTick(() => {});
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await tick();
  collectGarbage();
  await tick();
`;

describe('collectGarbage', () => {
  it('garbage collection keeps V8’s optimised shapes of pending ticks', () =>
    inFolder((folder) => {
      const log = path.join(folder, 'v8.log');
      const flags = ['--log-ic', `--logfile=${log}`, '--no-logfile-per-isolate', '--input-type=module'];
      const { status, stderr } = spawnSync(process.execPath, [...flags, '--eval', PROGRAM], {
        encoding: 'utf8',
      });
      assert.equal(status, 0, stderr);
      // A line such as KeyedLoadIC,0x75…,8561,79,27,0,1,0x12…,symbol("async_id_symbol" … records a change from uninitialised
      // (0) to monomorphic (1).
      const learned = Array.from(
        readFileSync(log, 'utf8').matchAll(/^\w+IC,.*,(\w),(\w),\w+,symbol\("async_id_symbol"/gm),
        ([, from, to]) => `${from} to ${to}`,
      );
      assert.deepEqual(learned, ['0 to 1']);
    }));
});

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { createTerminal } from '#desk/commands/terminal.ts';

it('progress is not shown without a terminal', () => {
  const written: string[] = [];
  const { note, progress } = createTerminal({
    isTTY: false,
    write: (text) => written.push(String(text)) > 0,
  });
  progress('9 of 10 lines …');
  note('Done.');
  assert.deepEqual(written, ['Done.\n']);
});

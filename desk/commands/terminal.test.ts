import assert from 'node:assert/strict';
import { it } from 'node:test';

import { createTerminal } from '#desk/commands/terminal.ts';

function createStream(isTTY: boolean) {
  const calls: string[] = [];
  const call = (text: string) => calls.push(text) > 0;
  const stream = {
    isTTY,
    write: call,
    cursorTo: (x: number) => call(`to ${x}`),
    clearLine: () => call('clear'),
  };
  return { calls, stream };
}

it('progress is shown on one line until the next note replaces it', () => {
  const { calls, stream } = createStream(true);
  const { note, progress, endProgress } = createTerminal(stream);
  progress('9 of 10 lines …');
  progress('10 of 10 lines …');
  note('Done.');
  endProgress();
  assert.deepEqual(calls, [
    '9 of 10 lines …',
    'to 0',
    'clear',
    '10 of 10 lines …',
    'to 0',
    'clear',
    'Done.\n',
  ]);
});

it('progress is not shown without a terminal', () => {
  const { calls, stream } = createStream(false);
  const { note, progress } = createTerminal(stream);
  progress('9 of 10 lines …');
  note('Done.');
  assert.deepEqual(calls, ['Done.\n']);
});

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { createTerminal } from '#desk/commands/terminal.ts';

function createScreen(isTTY: boolean) {
  const lines: string[] = [''];
  let column = 0;
  const write = (text: string) => {
    for (const letter of text) {
      if (letter === '\n') {
        lines.push('');
        column = 0;
        continue;
      }
      const line = lines.at(-1) ?? '';
      lines[lines.length - 1] = line.slice(0, column) + letter + line.slice(column + 1);
      column += 1;
    }
    return true;
  };
  const cursorTo = (to: number) => {
    column = to;
    return true;
  };
  const clearLine = () => {
    lines[lines.length - 1] = (lines.at(-1) ?? '').slice(0, column);
    return true;
  };
  return { lines, stream: isTTY ? { isTTY: true, write, cursorTo, clearLine } : { write } };
}

it('progress is shown on one line until the next note replaces it', () => {
  const { lines, stream } = createScreen(true);
  const { note, progress, endProgress } = createTerminal(stream);
  progress('1000 of 2000 lines …');
  assert.deepEqual(lines, ['1000 of 2000 lines …']);
  progress('9 proofs …');
  assert.deepEqual(lines, ['9 proofs …']);
  note('Done.');
  assert.deepEqual(lines, ['Done.', '']);
  progress('More …');
  endProgress();
  assert.deepEqual(lines, ['Done.', '']);
});

it('progress is not shown without a terminal', () => {
  const { lines, stream } = createScreen(false);
  const { note, progress } = createTerminal(stream);
  progress('1000 of 2000 lines …');
  note('Done.');
  assert.deepEqual(lines, ['Done.', '']);
});

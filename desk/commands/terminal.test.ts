import assert from 'node:assert/strict';
import { it } from 'node:test';

import { printList } from '#desk/commands/print.ts';
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

it('a list stays aligned after Chinese, Japanese and Korean letters, emoji and separate accents', async () => {
  const rows = [
    'Acme            |',
    '田中株式会社    |',
    'ソニー          |',
    '삼성            |',
    'ＡＢ            |',
    'ｿﾆｰ             |',
    'Rocket 🚀       |',
    'Cafe\u0301            |',
    '𝐀cme            |',
  ];
  let printed = '';
  const print = async (text: string) => void (printed += text);
  const companies = rows.map((row) => row.slice(0, -1).trimEnd());
  await printList({ print, paint: (_, text) => text }, [companies], {
    columns: [
      ['company', 14, (company) => company],
      ['end', 0, () => '|'],
    ],
  });
  assert.equal(printed, ['company         end', ...rows, ''].join('\n'));
});

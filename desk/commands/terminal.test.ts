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
  let printed = '';
  const print = async (text: string) => void (printed += text);
  const companies = [
    'Acme',
    '田中株式会社',
    'ソニー',
    '삼성',
    'ＡＢ',
    'ｿﾆｰ',
    'Rocket 🚀',
    'Cafe\u0301',
    '𝐀cme',
  ];
  await printList({ print, paint: (_, text) => text }, [companies], {
    columns: [
      ['company', 14, (company) => company],
      ['end', 0, () => '|'],
    ],
  });
  assert.deepEqual(printed.split('\n'), [
    'company         end',
    'Acme            |',
    '田中株式会社    |',
    'ソニー          |',
    '삼성            |',
    'ＡＢ            |',
    'ｿﾆｰ             |',
    'Rocket 🚀       |',
    'Cafe\u0301            |',
    '𝐀cme            |',
    '',
  ]);
});

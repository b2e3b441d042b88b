import assert from 'node:assert/strict';
import { it } from 'node:test';

import { parse } from 'csv-parse/sync';

import { csvLine, withoutApostrophe } from '#desk/export/csv.ts';
import { createRandom } from '#testing/random.ts';

const PIECES = [
  ...Array.from(',;"\'\n\r\t =+-@\\0\uFF1D\uFF0B\uFF0D\uFF20\uFEFF\u2028é'),
  '',
  '\r\n',
  '""',
  '🙂',
  'Ada',
  'A1',
  '1.5',
  '=cmd()',
  '+44 20',
  ";=cmd|' /C calc'!A0",
  '\n-1+1',
  "''",
];
const FORMULA = /^[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/;
const random = createRandom(1);
const dice = (below: number) => Math.floor(random() * below);

it('an exported CSV line is read back unchanged and never becomes a formula', () => {
  for (let round = 0; round < 20_000; round += 1) {
    const cells = Array.from({ length: 1 + dice(4) }, () =>
      Array.from({ length: dice(5) }, () => PIECES[dice(PIECES.length)]).join(''),
    );
    const line = csvLine(cells);
    const read = parse(line, { record_delimiter: '\r\n' });
    assert.equal(read.length, 1, line);
    assert.deepEqual(read[0]!.map(withoutApostrophe), cells, line);
    const elsewhere = line.split(/[;\t\r\n]"*/).slice(1);
    for (const cell of [...read[0]!, ...elsewhere]) assert.doesNotMatch(cell, FORMULA, line);
  }
});

it('two different texts never become the same cell in CSV', () => {
  for (const [text, cell] of [
    ['=1+1', "'=1+1"],
    ["'=1+1", "''=1+1"],
    ["''=1+1", "'''=1+1"],
    ["'quoted'", "'quoted'"],
    ["c;=cmd|' /C calc'!A0", `c;'=cmd|' /C calc'!A0`],
    ['c;"=1+1', `"c;""'=1+1"`],
    ['several\n- points', `"several\n'- points"`],
    ['a; b', 'a; b'],
    ['a=b; c-d', 'a=b; c-d'],
  ] as const) {
    assert.equal(csvLine([text]), `${cell}\r\n`);
    assert.equal(
      withoutApostrophe(
        csvLine([text])
          .trim()
          .replaceAll(/^"|"$|"(?=")/g, ''),
      ),
      text,
    );
  }
});

it('a plain number stays a number in CSV, and any other notation becomes text', () => {
  const figures = { '+44 (20) 7946-0018': null, '-1.5': null, '+1+1': "'", '-A1': "'", '=1': "'", '': null };
  for (const [figure, mark] of Object.entries(figures)) {
    assert.equal(csvLine([{ figure }]), `${mark ?? ''}${figure}\r\n`);
    assert.equal(withoutApostrophe(`${mark ?? ''}${figure}`), figure);
  }
});

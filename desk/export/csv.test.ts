import assert from 'node:assert/strict';
import { it } from 'node:test';

import { stringify } from 'csv-stringify/sync';

import { csvLine, withoutApostrophe } from '#desk/export/csv.ts';

/** Pieces of a text that matter to a reader of CSV or to a spreadsheet, and some that do not. */
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
];
/** Numbers below a limit, the same in each run. */
function createDice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

it('a line is what a library of CSV makes of its cells, whatever stands in them', () => {
  const dice = createDice(1);
  for (let round = 0; round < 20_000; round += 1) {
    const cells = Array.from({ length: 1 + dice(4) }, () =>
      Array.from({ length: dice(5) }, () => PIECES[dice(PIECES.length)]).join(''),
    );
    const expected = stringify([cells], {
      record_delimiter: 'windows',
      escape_formulas: true,
      // A line break of either kind begins a row for most readers: by itself, the library quotes only both together.
      quote_record_delimiter: true,
    });
    assert.equal(csvLine(cells), expected, JSON.stringify(cells));
  }
});

it('a figure that a spreadsheet takes for a number stays as it is, and any other is text', () => {
  const figures = { '+44 (20) 7946-0018': null, '-1.5': null, '+1+1': "'", '-A1': "'", '=1': "'", '': null };
  for (const [figure, mark] of Object.entries(figures)) {
    assert.equal(csvLine([{ figure }]), `${mark ?? ''}${figure}\r\n`);
    assert.equal(withoutApostrophe(`${mark ?? ''}${figure}`), figure);
  }
});

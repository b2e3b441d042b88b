import assert from 'node:assert/strict';
import { it } from 'node:test';

import { barsOf, figureAtEnd, figureAtStart } from './figures.ts';

it('figureAtStart splits off a leading figure without losing text', () => {
  for (const [text, figure] of [
    ['3.5x improvement in 60 days', '3.5x'],
    ['9.7:1 ROI achieved', '9.7:1'],
    ['+31 % Abschlüsse', '+31'],
    ['€40k saved', '€40k'],
  ] as const) {
    const found = figureAtStart(text);
    assert.equal(found?.figure, figure);
    assert.equal(`${found?.before}${found?.figure}${found?.after}`, text);
  }
});

it('figureAtEnd splits off a trailing figure with its full stop', () => {
  const text = 'Teams report an average ROI of 10.2x.';
  const found = figureAtEnd(text);
  assert.equal(found?.figure, '10.2x.');
  assert.equal(`${found?.before}${found?.figure}${found?.after}`, text);
});

it('figureAtStart returns null for a word or a figure that is too wide', () => {
  assert.equal(figureAtStart('Eingearbeitet in 6 statt 11 Wochen'), null);
  assert.equal(figureAtStart('60'), null);
  assert.equal(figureAtStart('1,200,000 letters'), null);
  assert.equal(figureAtEnd('Im Schnitt vom 10,2fachen Ertrag.'), null);
});

it('barsOf returns lengths in proportion to the numbers', () => {
  assert.deepEqual(barsOf('from 3.2%', '11.4%'), { from: 28.1, to: 100 });
  assert.deepEqual(barsOf('4:1', '9.7:1'), { from: 41.2, to: 100 });
  assert.deepEqual(barsOf('18 %', '31,5 %'), { from: 57.1, to: 100 });
  assert.deepEqual(barsOf('11 weeks', '6 weeks'), { from: 100, to: 54.5 });
});

it('barsOf returns null for a missing, zero or ambiguous number', () => {
  assert.equal(barsOf('few', '11.4%'), null);
  assert.equal(barsOf('0', '0'), null);
  assert.equal(barsOf('900', '1,200'), null);
  assert.equal(barsOf('1.234.567', '2'), null);
});

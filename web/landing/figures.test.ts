import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { barsOf, figureAtEnd, figureAtStart } from './figures.ts';

describe('the figure of a text', () => {
  it('is found at its start, and the parts are the whole text', () => {
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

  it('is found at its end, with the full stop', () => {
    const text = 'Teams report an average ROI of 10.2x.';
    const found = figureAtEnd(text);
    assert.equal(found?.figure, '10.2x.');
    assert.equal(`${found?.before}${found?.figure}${found?.after}`, text);
  });

  it('is none where a word stands there, or where it would be too wide', () => {
    assert.equal(figureAtStart('Eingearbeitet in 6 statt 11 Wochen'), null);
    assert.equal(figureAtStart('60'), null);
    assert.equal(figureAtStart('1,200,000 letters'), null);
    assert.equal(figureAtEnd('Im Schnitt vom 10,2fachen Ertrag.'), null);
  });
});

describe('the bars of a figure', () => {
  it('have the lengths that the numbers say', () => {
    assert.deepEqual(barsOf('from 3.2%', '11.4%'), { from: 28.1, to: 100 });
    assert.deepEqual(barsOf('4:1', '9.7:1'), { from: 41.2, to: 100 });
    assert.deepEqual(barsOf('18 %', '31,5 %'), { from: 57.1, to: 100 });
    assert.deepEqual(barsOf('11 weeks', '6 weeks'), { from: 100, to: 54.5 });
  });

  it('are none where a number is missing, nothing, or may mean two things', () => {
    assert.equal(barsOf('few', '11.4%'), null);
    assert.equal(barsOf('0', '0'), null);
    assert.equal(barsOf('900', '1,200'), null);
    assert.equal(barsOf('1.234.567', '2'), null);
  });
});

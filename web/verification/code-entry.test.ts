import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isDigit } from '#shared/code-digits.ts';
import {
  codeEntryReducer,
  completeCode,
  EMPTY_CODE_ENTRY,
  type CodeEntry,
  type CodeEntryEvent,
} from '#web/verification/code-entry.ts';

const after = (entry: CodeEntry, ...events: CodeEntryEvent[]): CodeEntry =>
  events.reduce(codeEntryReducer, entry);
const shown = ({ digits, focus }: CodeEntry): string =>
  `${digits.map((digit) => digit || '_').join('')} ${focus}`;
const entryOf = (text: string, focus: number): CodeEntry => ({
  digits: Array.from(text, (character) => (character === '_' ? '' : character)),
  focus,
});
const input = (box: number, value: string): CodeEntryEvent => ({ type: 'input', box, value });
const paste = (box: number, text: string): CodeEntryEvent => ({ type: 'paste', box, text });

describe('code entry', () => {
  it('typing accepts only digits and moves to the next code box', () => {
    assert.equal(shown(after(EMPTY_CODE_ENTRY, input(0, '1'))), '1_____ 1');
    assert.equal(shown(after(EMPTY_CODE_ENTRY, input(0, 'a'))), '______ 0');
    assert.equal(shown(after(EMPTY_CODE_ENTRY, input(0, '-'), input(0, ' '), input(0, '.'))), '______ 0');
    assert.equal(shown(after(entryOf('12345_', 5), input(5, '6'))), '123456 5');
  });

  it('typing in a filled code box replaces its digit at any caret position', () => {
    assert.equal(shown(after(entryOf('123___', 1), input(1, '27'))), '173___ 2');
    assert.equal(shown(after(entryOf('123___', 1), input(1, '72'))), '173___ 2');
    assert.equal(shown(after(entryOf('123___', 1), input(1, '22'))), '123___ 2');
    assert.equal(shown(after(entryOf('123___', 1), input(1, '2x'))), '123___ 2');
  });

  it('typing over the first digit of a full code starts a new code', () => {
    assert.equal(shown(after(entryOf('123456', 0), input(0, '71'))), '7_____ 1');
    assert.equal(shown(after(entryOf('123456', 0), input(0, '1'))), '1_____ 1');
    assert.equal(shown(after(entryOf('123456', 3), input(3, '7'))), '123756 4');
  });

  it('emptying a code box keeps the focus in it', () => {
    assert.equal(shown(after(entryOf('123___', 1), input(1, ''))), '1_3___ 1');
  });

  it('typing accepts digits of every script and converts them to 0 to 9', () => {
    assert.equal(shown(after(EMPTY_CODE_ENTRY, input(0, '１'))), '1_____ 1');
    assert.equal(shown(after(EMPTY_CODE_ENTRY, input(0, '٣'))), '3_____ 1');
    assert.equal(shown(after(entryOf('3_____', 0), input(0, '3٣'))), '3_____ 1');
    for (const system of Intl.supportedValuesOf('numberingSystem')) {
      const digits = new Intl.NumberFormat('en', { numberingSystem: system, useGrouping: false });
      const typed = [3, 0, 9, 1, 7, 5].map((digit) => digits.format(digit));
      // Chinese numerals are words; no keyboard types them as digits.
      if (!typed.every((digit) => /^\p{Nd}$/u.test(digit))) continue;
      assert.equal(shown(after(EMPTY_CODE_ENTRY, input(0, typed.join('')))), '309175 5', system);
      assert.equal(shown(after(EMPTY_CODE_ENTRY, paste(0, `‏${typed.join('')}‏.`))), '309175 5', system);
    }
  });

  it('isDigit distinguishes digit keys from keys such as F8', () => {
    assert.deepEqual(['7', '٣', '𝟗', 'F8', '12', 'x', '½'].filter(isDigit), ['7', '٣', '𝟗']);
  });

  it('typing ignores characters that only decompose into digits', () => {
    for (const sign of ['½', '²', '①', '₃', '⒈', '㉑', 'Ⅷ', '三'])
      assert.equal(shown(after(EMPTY_CODE_ENTRY, input(0, sign), paste(0, sign))), '______ 0', sign);
    assert.equal(shown(after(EMPTY_CODE_ENTRY, paste(0, '½ 123456²'))), '123456 5');
  });

  it('a whole code entered into any box fills all boxes', () => {
    for (const box of [0, 3, 5])
      assert.equal(shown(after(entryOf('9_____', box), input(box, '123456'))), '123456 5');
    assert.equal(shown(after(EMPTY_CODE_ENTRY, input(2, '1234'))), '__1234 5');
    assert.equal(shown(after(EMPTY_CODE_ENTRY, input(0, '1234567'))), '123456 5');
    // Text can be dropped, dictated or inserted by a keyboard's clipboard, without a paste event.
    for (const text of [
      '10 minutes: 123456',
      '25 Nov 2026, 18:31 123 456 is your code',
      '(2) 123456',
      '١٢٣٤٥٦',
    ])
      assert.equal(shown(after(EMPTY_CODE_ENTRY, input(0, text))), '123456 5', text);
  });
});

describe('keys in the code boxes', () => {
  it('Backspace clears a filled code box and only moves back from an empty one', () => {
    assert.equal(shown(after(entryOf('123___', 2), { type: 'backspace', box: 2 })), '12____ 2');
    assert.equal(shown(after(entryOf('12____', 2), { type: 'backspace', box: 2 })), '12____ 1');
    assert.equal(shown(after(EMPTY_CODE_ENTRY, { type: 'backspace', box: 0 })), '______ 0');
  });

  it('arrow keys, Home and End only move the focus between the code boxes', () => {
    const moved = (box: number, to: 'previous' | 'next' | 'first' | 'last') =>
      shown(after(entryOf('12____', box), { type: 'move', box, to }));
    assert.equal(moved(2, 'previous'), '12____ 1');
    assert.equal(moved(2, 'next'), '12____ 3');
    assert.equal(moved(0, 'previous'), '12____ 0');
    assert.equal(moved(5, 'next'), '12____ 5');
    assert.equal(moved(3, 'first'), '12____ 0');
    assert.equal(moved(3, 'last'), '12____ 5');
  });
});

describe('pasting into the code boxes', () => {
  it('pasting into any code box finds the code in surrounding text', () => {
    const texts = [
      '123456',
      '123 456',
      '123-456',
      '123\u2013456',
      '\u00a0123\u00a0456\n',
      'Your code: 123456.',
      '123456 is your code for Master AI-Powered Outreach',
      'Here is your one-time code.\n\n    123456\n\nThe code is valid for 10 minutes and works once.',
      'valid for 10 minutes: 123 456',
      '１２３４５６',
    ];
    for (const text of texts) {
      for (const box of [0, 2, 5])
        assert.equal(shown(after(entryOf('98____', box), paste(box, text))), '123456 5', text);
    }
  });

  it('pasting part of a code fills the boxes from there', () => {
    assert.equal(shown(after(entryOf('12____', 2), paste(2, '34'))), '1234__ 4');
    assert.equal(shown(after(entryOf('12____', 2), paste(2, 'no code here'))), '12____ 2');
  });
});

describe('complete codes', () => {
  it('completeCode returns six digits, and null after a reset', () => {
    assert.equal(completeCode(entryOf('12345_', 5)), null);
    assert.equal(completeCode(entryOf('_23456', 0)), null);
    assert.equal(completeCode(entryOf('123456', 5)), '123456');
    assert.equal(shown(after(entryOf('123456', 5), { type: 'reset' })), '______ 0');
  });
});

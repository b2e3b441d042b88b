import assert from 'node:assert/strict';
import { it } from 'node:test';

import { isDigit } from '#shared/code-digits.ts';
import {
  codeEntryReducer,
  completeCode,
  eventOfKey,
  type CodeEntry,
  type CodeEntryEvent,
} from '#web/verification/code-entry.ts';

const shown = ({ digits, focus }: CodeEntry): string =>
  `${digits.map((digit) => digit || '_').join('')} ${focus}`;
const entryOf = (text: string): CodeEntry => ({
  digits: Array.from(text, (character) => (character === '_' ? '' : character)),
  focus: 0,
});

/** Returns the digits and the focused box after an event in boxes with these digits. */
const after = (digits: string, event: CodeEntryEvent): string =>
  shown(codeEntryReducer(entryOf(digits), event));
const typed = (digits: string, box: number, value: string) => after(digits, { type: 'input', box, value });
const pasted = (digits: string, box: number, text: string) => after(digits, { type: 'paste', box, text });
const pressed = (digits: string, box: number, key: string) => {
  const event = eventOfKey(box, key);
  return event && after(digits, event);
};

const TYPED: Readonly<Record<string, readonly (readonly [string, number, string, string])[]>> = {
  'a digit moves to the next code box, and anything else is ignored': [
    ['______', 0, '1', '1_____ 1'],
    ['______', 0, 'a', '______ 0'],
    ['______', 0, '½', '______ 0'],
    ['12345_', 5, '6', '123456 5'],
  ],
  'a digit replaces the one in its code box, at any caret position': [
    ['123___', 1, '27', '173___ 2'],
    ['123___', 1, '72', '173___ 2'],
    ['123___', 1, '2x', '123___ 2'],
  ],
  'a digit over the first one of a full code starts a new code': [
    ['123456', 0, '71', '7_____ 1'],
    ['123456', 0, '1', '1_____ 1'],
    ['123456', 3, '7', '123756 4'],
  ],
  'emptying a code box keeps the focus in it': [['123___', 1, '', '1_3___ 1']],
  'a whole code entered into any code box fills all of them': [
    ['9_____', 0, '123456', '123456 5'],
    ['9_____', 3, '123456', '123456 5'],
    ['9_____', 5, '123456', '123456 5'],
    ['______', 2, '1234', '__1234 5'],
    ['______', 0, '1234567', '123456 5'],
    // Text can be dropped, dictated or inserted by a keyboard's clipboard, without a paste event.
    ['______', 0, '10 minutes: 123456', '123456 5'],
    ['______', 0, '25 Nov 2026, 18:31 123 456 is your code', '123456 5'],
  ],
};

for (const [title, rows] of Object.entries(TYPED))
  it(title, () => {
    for (const [digits, box, value, expected] of rows)
      assert.equal(typed(digits, box, value), expected, value);
  });

it('code boxes accept typed and pasted digits of every script', () => {
  for (const system of Intl.supportedValuesOf('numberingSystem')) {
    const script = new Intl.NumberFormat('en', { numberingSystem: system, useGrouping: false });
    const code = [3, 0, 9, 1, 7, 5].map((digit) => script.format(digit));
    // Chinese numerals are words; no keyboard types them as digits.
    if (!code.every((digit) => /^\p{Nd}$/u.test(digit))) continue;
    assert.equal(typed('______', 0, code.join('')), '309175 5', system);
    assert.equal(pasted('______', 0, `‏${code.join('')}‏.`), '309175 5', system);
  }
});

it('isDigit distinguishes digit keys from keys such as F8', () => {
  assert.deepEqual(['7', '٣', '𝟗', 'F8', '12', 'x', '½'].filter(isDigit), ['7', '٣', '𝟗']);
});

it('Backspace clears a filled code box and only moves back from an empty one', () => {
  assert.equal(pressed('123___', 2, 'Backspace'), '12____ 2');
  assert.equal(pressed('12____', 2, 'Backspace'), '12____ 1');
  assert.equal(pressed('______', 0, 'Backspace'), '______ 0');
});

it('arrow keys, Home and End only move the focus between the code boxes', () => {
  for (const [box, key, focus] of [
    [2, 'ArrowLeft', 1],
    [2, 'ArrowRight', 3],
    [0, 'ArrowLeft', 0],
    [5, 'ArrowRight', 5],
    [3, 'Home', 0],
    [3, 'End', 5],
  ] as const)
    assert.equal(pressed('12____', box, key), `12____ ${focus}`, key);
});

it('a code pasted into any code box is found in surrounding text', () => {
  for (const text of [
    '123456',
    '123 456',
    '123-456',
    '\u00a0123\u00a0456\n',
    'Your code: 123456.',
    'Here is your one-time code.\n\n    123456\n\nThe code is valid for 10 minutes and works once.',
    'valid for 10 minutes: 123 456',
  ])
    for (const box of [0, 2, 5]) assert.equal(pasted('98____', box, text), '123456 5', text);
});

it('pasting part of a code fills the code boxes from the focused one on', () => {
  assert.equal(pasted('12____', 2, '34'), '1234__ 4');
  assert.equal(pasted('12____', 2, 'no code here'), '12____ 0');
});

it('completeCode returns six digits, and null after a reset', () => {
  assert.equal(completeCode(entryOf('12345_')), null);
  assert.equal(completeCode(entryOf('_23456')), null);
  assert.equal(completeCode(entryOf('123456')), '123456');
  assert.equal(after('123456', { type: 'reset' }), '______ 0');
});

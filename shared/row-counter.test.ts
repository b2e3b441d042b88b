import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { rowCounter } from '#shared/row-counter.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const count = (headRows: number, ...chunks: readonly string[]) => {
  const counter = rowCounter(headRows);
  return chunks.map((chunk) => counter(bytes(chunk)));
};

describe('people counted in a file', () => {
  it('the number of downloaded people does not depend on where chunks are cut', () => {
    assert.deepEqual(count(1, 'email,na', 'me\r\na@example.com,A\r', '\nb@example.com,B\r\n'), [0, 0, 2]);
    assert.deepEqual(count(2, 'Parameters:TimeZone=+0000\r\nEmail\r\na@example.com\r\n'), [1]);
  });

  it('the number of downloaded people ignores line breaks within quotes', () => {
    assert.deepEqual(count(1, 'email,answer\n', 'a@example.com,"one\ntw', 'o ""three""\n"\n'), [0, 0, 1]);
  });

  it('people in JSON Lines are counted without a heading or CSV quotes', () => {
    assert.deepEqual(count(0, '{"a":"\\""}\n{"b":1}\n'), [2]);
  });
});

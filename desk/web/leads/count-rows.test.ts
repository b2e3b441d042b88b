import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { rowCounter } from '#desk/web/leads/count-rows.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const count = (isCsv: boolean, ...chunks: readonly string[]) => {
  const counter = rowCounter(isCsv);
  return chunks.map((chunk) => counter(bytes(chunk)));
};

describe('counting people in a downloading file', () => {
  it('counts the same number of people wherever a chunk is cut', () => {
    assert.deepEqual(count(true, 'email,na', 'me\r\na@example.com,A\r', '\nb@example.com,B\r\n'), [0, 0, 2]);
  });

  it('counting people ignores a line break within quotes', () => {
    assert.deepEqual(count(true, 'email,answer\n', 'a@example.com,"one\ntw', 'o ""three""\n"\n'), [0, 0, 1]);
  });

  it('counting people expects no heading and no CSV quotes in JSON Lines', () => {
    assert.deepEqual(count(false, '{"a":"\\""}\n{"b":1}\n'), [2]);
  });
});

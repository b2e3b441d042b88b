import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readingMinutes } from '#web/content/reading-time.ts';

test('readingMinutes counts words, not tags, and is never zero', () => {
  const words = (count: number) => 'word '.repeat(count);
  assert.equal(readingMinutes(`<p>${words(238 * 3)}</p>`), 3);
  assert.equal(readingMinutes(`<p class="a b c">${words(238)}</p>${'<br />'.repeat(500)}`), 1);
  assert.equal(readingMinutes('<p>Short.</p>'), 1);
  assert.equal(readingMinutes(''), 1);
});

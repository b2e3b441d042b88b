import assert from 'node:assert/strict';
import { it } from 'node:test';

import { changeOf, shareOf } from '#desk/web/today/change.ts';

it('a figure is compared with the previous period if both are known', () => {
  assert.equal(changeOf(9, 12), -3);
  assert.equal(changeOf(null, 3), null);
  assert.equal(changeOf(3, null), null);
  assert.equal(changeOf(3, undefined), null);
});

it('a share is shown only if it is at most 1', () => {
  assert.equal(shareOf(1, 4), 0.25);
  assert.equal(shareOf(1, 0), null);
  assert.equal(shareOf(null, 4), null);
  assert.equal(shareOf(5, 4), null);
});

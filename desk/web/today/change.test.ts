import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { changeOf, shareOf } from '#desk/web/today/change.ts';

describe('a figure beside the time before', () => {
  it('is more, less or the same', () => {
    assert.deepEqual(changeOf(12, 9), { direction: 'more', by: 3 });
    assert.deepEqual(changeOf(9, 12), { direction: 'less', by: 3 });
    assert.deepEqual(changeOf(0, 0), { direction: 'same', by: 0 });
  });

  it('is compared with nothing that is not known', () => {
    assert.equal(changeOf(null, 3), null);
    assert.equal(changeOf(3, null), null);
    assert.equal(changeOf(3, undefined), null);
  });

  it('is a part of the step before it', () => {
    assert.equal(shareOf(1, 4), 0.25);
    assert.equal(shareOf(1, 0), null);
    assert.equal(shareOf(null, 4), null);
    assert.equal(shareOf(5, 4), null);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { keepHidden, readHidden } from '#desk/web/leads/kept-columns.ts';

function storage(kept: string | null = null) {
  let value = kept;
  return () => ({ getItem: () => value, setItem: (_: string, next: string) => void (value = next) });
}
const forbidden = () => {
  throw new Error('storage is forbidden');
};

describe('visible columns', () => {
  it('the browser remembers the visible columns of the desk list', () => {
    const mine = storage();
    assert.deepEqual(readHidden(mine, ['campaign']), new Set(['campaign']));
    keepHidden(mine, new Set(['source', 'flags']));
    assert.deepEqual(readHidden(mine, ['campaign']), new Set(['source', 'flags']));
    keepHidden(mine, new Set());
    assert.deepEqual(readHidden(mine, ['campaign']), new Set());
  });

  it('the desk list shows its default columns without storage or with invalid data in it', () => {
    assert.deepEqual(readHidden(storage('{nonsense'), ['campaign']), new Set(['campaign']));
    assert.deepEqual(readHidden(forbidden, ['campaign']), new Set(['campaign']));
    assert.doesNotThrow(() => keepHidden(forbidden, new Set()));
  });
});

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { store, stored } from '#desk/web/stored.ts';

it('the desk works in a browser that forbids storage', () => {
  Object.defineProperty(globalThis, 'localStorage', {
    get() {
      throw new Error('storage is forbidden');
    },
  });
  store('key', 'value');
  assert.equal(stored('key'), null);
});

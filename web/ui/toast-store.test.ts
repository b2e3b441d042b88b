import assert from 'node:assert/strict';
import { it, mock } from 'node:test';

import { createToastStore, TOAST_REMOVE_DELAY_MS } from '#web/ui/toast-store.ts';

const ONE = { title: 'One', description: '' };
const TWO = { title: 'Two', description: '' };

it('a new toast replaces the previous one', () => {
  const store = createToastStore();
  store.add(ONE);
  const id = store.add(TWO);
  assert.deepEqual(store.get(), [{ ...TWO, id, open: true }]);
});

it('a toast is updated and dismissed by its ID', () => {
  const store = createToastStore();
  const id = store.add(ONE);
  store.update(id, { title: 'New' });
  store.update('another', { title: 'Other' });
  store.dismiss('another');
  assert.deepEqual(store.get(), [{ ...ONE, title: 'New', id, open: true }]);
  store.dismiss(id);
  assert.equal(store.get()[0]?.open, false);
});

it('a toast is removed 1,000,000 ms after its first dismissal, and its successor stays', () => {
  assert.equal(TOAST_REMOVE_DELAY_MS, 1_000_000);
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const store = createToastStore();
    let calls = 0;
    const unsubscribe = store.subscribe(() => (calls += 1));
    const id = store.add(ONE);
    store.dismiss(id);
    mock.timers.tick(500_000);
    store.dismiss(id);
    mock.timers.tick(499_999);
    assert.equal(store.get().length, 1);
    mock.timers.tick(1);
    assert.deepEqual(store.get(), []);
    assert.equal(calls, 3, 'added, dismissed once, removed');
    unsubscribe();
    store.dismiss(store.add(ONE));
    assert.equal(calls, 3);
    const second = store.add(TWO);
    mock.timers.tick(2_000_000);
    assert.deepEqual(store.get(), [{ ...TWO, id: second, open: true }]);
  } finally {
    mock.timers.reset();
  }
});

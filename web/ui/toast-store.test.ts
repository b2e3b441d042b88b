import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';

import { createToastStore, TOAST_REMOVE_DELAY_MS, toastReducer } from '#web/ui/toast-store.ts';

const toast = (id: string) => ({ id, title: `Toast ${id}`, description: '' });

describe('toasts', () => {
  it('toastReducer replaces the previous toast with a new one', () => {
    const one = toastReducer([], { type: 'add', toast: toast('1') });
    const two = toastReducer(one, { type: 'add', toast: toast('2') });
    assert.deepEqual(two, [{ ...toast('2'), open: true }]);
  });

  it('toastReducer updates, dismisses and removes a toast by ID', () => {
    const state = toastReducer([], { type: 'add', toast: toast('1') });
    assert.equal(
      toastReducer(state, { type: 'update', id: '1', changes: { title: 'New' } })[0]?.title,
      'New',
    );
    assert.equal(
      toastReducer(state, { type: 'update', id: '2', changes: { title: 'New' } })[0]?.title,
      'Toast 1',
    );
    assert.equal(toastReducer(state, { type: 'dismiss', id: '1' })[0]?.open, false);
    assert.deepEqual(toastReducer(state, { type: 'remove', id: '1' }), []);
    assert.deepEqual(toastReducer(state, { type: 'remove', id: '2' }), state);
  });
});

describe('removal of toasts', () => {
  it('createToastStore removes a toast 1,000,000 ms after its first dismissal', () => {
    assert.equal(TOAST_REMOVE_DELAY_MS, 1_000_000);
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const store = createToastStore();
      let calls = 0;
      const unsubscribe = store.subscribe(() => {
        calls += 1;
      });
      const id = store.add({ title: 'Success!', description: '' });
      store.dismiss(id);
      mock.timers.tick(500_000);
      store.dismiss(id);
      mock.timers.tick(499_999);
      assert.equal(store.getState().length, 1);
      mock.timers.tick(1);
      assert.deepEqual(store.getState(), []);
      assert.equal(calls, 3, 'added, dismissed once, removed');
      unsubscribe();
      store.add({ title: 'Verified!', description: '' });
      assert.equal(calls, 3);
    } finally {
      mock.timers.reset();
    }
  });

  it('createToastStore clears the timer of a replaced toast', () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const store = createToastStore();
      store.dismiss(store.add({ title: 'One', description: '' }));
      const second = store.add({ title: 'Two', description: '' });
      mock.timers.tick(2_000_000);
      assert.deepEqual(
        store.getState().map(({ id, open }) => ({ id, open })),
        [{ id: second, open: true }],
      );
    } finally {
      mock.timers.reset();
    }
  });
});

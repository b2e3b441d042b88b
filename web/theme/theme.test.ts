import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { keepTheme, readTheme } from '#web/theme/theme.ts';

const storageWith = (value: string | null) => () => ({
  getItem: (key: string) => (key === 'theme' ? value : null),
  setItem: () => {},
});
const forbidden = () => {
  throw new Error('storage is forbidden');
};

describe('theme', () => {
  it('readTheme returns light unless the visitor chose dark', () => {
    assert.equal(readTheme(storageWith(null)), 'light');
    assert.equal(readTheme(storageWith('light')), 'light');
    assert.equal(readTheme(storageWith('dark')), 'dark');
    assert.equal(readTheme(storageWith('purple')), 'light');
  });

  it('keepTheme stores the theme under "theme"', () => {
    const kept: string[] = [];
    keepTheme(
      () => ({ getItem: () => null, setItem: (key, value) => void kept.push(`${key}=${value}`) }),
      'dark',
    );
    assert.deepEqual(kept, ['theme=dark']);
  });

  it('readTheme and keepTheme work without storage', () => {
    assert.equal(readTheme(forbidden), 'light');
    assert.doesNotThrow(() => keepTheme(forbidden, 'dark'));
  });
});

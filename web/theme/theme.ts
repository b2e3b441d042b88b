// Specification, section 4: light by default, stored under the key 'theme'.

import { PAPER } from '#shared/colours.ts';

export type Theme = 'light' | 'dark';

const THEME_KEY = 'theme';
const DEFAULT_THEME: Theme = 'light';

type ThemeStorage = Pick<Storage, 'getItem' | 'setItem'>;

export function readTheme(storage: () => ThemeStorage): Theme {
  try {
    return storage().getItem(THEME_KEY) === 'dark' ? 'dark' : DEFAULT_THEME;
  } catch {
    return DEFAULT_THEME;
  }
}

export function keepTheme(storage: () => ThemeStorage, theme: Theme): void {
  try {
    storage().setItem(THEME_KEY, theme);
  } catch {
    // Storage is forbidden.
  }
}

export function toggleTheme(root: HTMLElement): void {
  const theme = root.classList.contains('dark') ? 'light' : 'dark';
  showTheme(root, theme);
  keepTheme(() => localStorage, theme);
}

export function showTheme(root: HTMLElement, theme: Theme): void {
  root.classList.toggle('dark', theme === 'dark');
  root.classList.toggle('light', theme === 'light');
  root.querySelector('[name=theme-color]')?.setAttribute('content', PAPER[theme]);
}

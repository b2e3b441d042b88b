// Specification, section 4: light by default, stored under the key 'theme'.

import { PAPER } from '#shared/colours.ts';

export type Theme = 'light' | 'dark';

const THEME_KEY = 'theme';
const DEFAULT_THEME: Theme = 'light';

export function readTheme(): Theme {
  try {
    return localStorage.getItem(THEME_KEY) === 'dark' ? 'dark' : DEFAULT_THEME;
  } catch {
    return DEFAULT_THEME;
  }
}

export function toggleTheme(root: HTMLElement): void {
  const theme = root.classList.contains('dark') ? 'light' : 'dark';
  showTheme(root, theme);
  try {
    localStorage.setItem(THEME_KEY, theme);
  } catch {
    // Storage is forbidden.
  }
}

export function showTheme(root: HTMLElement, theme: Theme): void {
  root.classList.remove('dark', 'light');
  root.classList.add(theme);
  root.querySelector('[name=theme-color]')?.setAttribute('content', PAPER[theme]);
}

// Light and dark (specification, section 4): light unless chosen otherwise, kept under the key 'theme'.

import { PAPER } from '#shared/paper-colours.ts';

export type Theme = 'light' | 'dark';

const THEME_KEY = 'theme';
const DEFAULT_THEME: Theme = 'light';

/** Where a choice is kept. Reading or writing may throw: browsers can forbid storage. */
type ThemeStorage = Pick<Storage, 'getItem' | 'setItem'>;

/** The kept theme; light when none is kept, when it is not a theme, or when storage is forbidden. */
export function readTheme(storage: () => ThemeStorage): Theme {
  try {
    return storage().getItem(THEME_KEY) === 'dark' ? 'dark' : DEFAULT_THEME;
  } catch {
    return DEFAULT_THEME;
  }
}

/** Keeps the theme; without storage it holds until the page is left. */
export function keepTheme(storage: () => ThemeStorage, theme: Theme): void {
  try {
    storage().setItem(THEME_KEY, theme);
  } catch {
    // The page works without; there is nothing a visitor could do about it.
  }
}

/** Switches to the other theme and keeps it. */
export function toggleTheme(root: HTMLElement): void {
  const theme = root.classList.contains('dark') ? 'light' : 'dark';
  showTheme(root, theme);
  keepTheme(() => localStorage, theme);
}

/** Shows a theme: the class on the root element decides (styles/tokens.css); the browser's own frame takes the paper's colour. */
export function showTheme(root: HTMLElement, theme: Theme): void {
  root.classList.toggle('dark', theme === 'dark');
  root.classList.toggle('light', theme === 'light');
  root.querySelector('[name=theme-color]')?.setAttribute('content', PAPER[theme]);
}

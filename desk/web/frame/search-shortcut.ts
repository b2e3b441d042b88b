import { go } from '#desk/web/router.tsx';

const KEY = 'desk-no-search-shortcut';

/** A shortcut of one character can be turned off, because speech input may trigger it (WCAG 2.2, 2.1.4). */
export function isSearchShortcutOn(): boolean {
  try {
    return localStorage.getItem(KEY) === null;
  } catch {
    return true;
  }
}

export function turnSearchShortcut(on: boolean): void {
  try {
    if (on) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, '');
  } catch {
    // Without storage, it stays on.
  }
}

/** Makes "/" move to the search field, as on GitHub, or else to the list of leads. */
export function searchOnSlash(event: KeyboardEvent): void {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  const isTyping =
    target instanceof Element && target.closest('input, textarea, select, dialog, [role*=dialog]');
  if (key !== '/' || ctrlKey || metaKey || altKey || isTyping || !isSearchShortcutOn()) return;
  event.preventDefault();
  const field = () => document.querySelector<HTMLInputElement>('main input[type=search]');
  if (field() === null) go('/leads');
  requestAnimationFrame(() => field()?.focus());
}

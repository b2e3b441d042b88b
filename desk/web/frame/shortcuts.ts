import { navigate } from '#desk/web/router.tsx';
import { store, stored } from '#desk/web/stored.ts';

const KEY = 'desk-shortcuts';

/** Shortcuts of one character can be turned off, because speech input may trigger them (WCAG 2.2, 2.1.4). */
export const areShortcutsOn = (): boolean => stored(KEY) !== 'off';

export const setShortcuts = (on: boolean): void => store(KEY, on ? 'on' : 'off');

/**
 * "/" moves to the search field, as on GitHub, or else to the list of leads. "j" and "k" follow the link that names them as its
 * shortcut, to the next and the previous person.
 */
export function handleShortcut(event: KeyboardEvent): void {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  const isTyping =
    target instanceof Element && target.closest('input, textarea, select, dialog, [role*=dialog]');
  if (!['/', 'j', 'k'].includes(key) || ctrlKey || metaKey || altKey || isTyping || !areShortcutsOn()) return;
  if (key !== '/') {
    document.querySelector<HTMLAnchorElement>(`main a[aria-keyshortcuts=${key}]`)?.click();
    return;
  }
  event.preventDefault();
  const field = () => document.querySelector<HTMLInputElement>('main input[type=search]');
  if (field() === null) navigate('/leads');
  requestAnimationFrame(() => field()?.focus());
}

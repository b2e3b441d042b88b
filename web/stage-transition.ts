// How one stage gives way to the next (View Transitions).
import { flushSync } from 'react-dom';

/**
 * Shows another stage, with a fade where the browser can and the visitor did not ask for less motion. Only for a press in
 * the page: for Back and Forward browsers have their own movement, and restore the scroll position.
 * @param update changes what is shown
 */
export function withTransition(update: () => void): void {
  if (
    !('startViewTransition' in document) ||
    matchMedia('(prefers-reduced-motion:reduce)').matches ||
    // The boot script repeats a press that came early: its visitor has waited, and a fade begins a frame later.
    document.querySelector('[aria-busy]') !== null
  ) {
    update();
    return;
  }
  // Browsers refuse it for a hidden page; the update is made all the same.
  document.startViewTransition(() => flushSync(update)).ready.catch(() => {});
}

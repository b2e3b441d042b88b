import { flushSync } from 'react-dom';

/**
 * Changes the stage with a fade, unless the browser lacks view transitions or the visitor prefers reduced motion. Use it only for presses:
 * on Back and Forward, browsers restore the scroll position themselves.
 */
export function withTransition(update: () => void): void {
  if (
    !('startViewTransition' in document) ||
    matchMedia('(prefers-reduced-motion:reduce)').matches ||
    // An early press, replayed by boot.ts, has waited long enough.
    document.querySelector('[aria-busy]') !== null
  ) {
    update();
    return;
  }
  // Browsers refuse it for a hidden page, but still run the update.
  document.startViewTransition(() => flushSync(update)).ready.catch(() => {});
}

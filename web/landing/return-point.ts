// Keeps the scroll position in the history entry, so Back restores it even after a reload.
import { useEffect, type RefObject } from 'react';

export type Action = 'hero' | 'film' | 'bar' | 'closing';

export type ReturnPoint = {
  readonly action: Action;
  /** CSS pixels from the top of the screen to the action, or to the bar's position in the page. */
  readonly top: number;
};

export const isPrerenderedAction = (name: string | undefined): name is Action =>
  name === 'hero' || name === 'closing';

/** Call this before adding another history entry. */
export function saveReturnPoint(point: ReturnPoint): void {
  history.replaceState({ ...(history.state as object | null), left: point }, '');
}

export const readReturnPoint = (): ReturnPoint | undefined =>
  (history.state as { readonly left?: ReturnPoint } | null)?.left;

const MOVEMENTS = ['wheel', 'touchmove', 'keydown', 'pointerdown'];

/** Browsers restore their own scroll position within this time. */
const BROWSER_RESTORES_WITHIN_MS = 400;

type Ref = RefObject<HTMLElement | null>;

/** After a return from another stage, focuses the pressed call to action at its old position, or the headline. */
export function useReturnFocus(
  headline: Ref,
  actions: Readonly<Record<Action, Ref>>,
  hasMoved: () => boolean,
): void {
  useEffect(() => {
    if (!hasMoved()) return undefined;
    const point = readReturnPoint();
    const target = point ? actions[point.action].current : headline.current;
    let active = true;
    const restoreScroll = () => {
      if (!active) return;
      if (point && target) window.scrollBy({ top: target.getBoundingClientRect().top - point.top });
      else window.scrollTo(0, 0);
    };
    restoreScroll();
    const containsButton = point?.action === 'film' || point?.action === 'bar';
    (containsButton ? target?.querySelector('button') : target)?.focus({ preventScroll: true });
    // A smooth scroll on the form may still be running.
    requestAnimationFrame(() => requestAnimationFrame(restoreScroll));
    // A busy browser restores its position some frames later. Later scrolling is the visitor's, even without a key, wheel or pointer (voice
    // control, screen readers).
    const browserScroll = new AbortController();
    addEventListener('scroll', restoreScroll, { passive: true, signal: browserScroll.signal });
    const timer = setTimeout(() => browserScroll.abort(), BROWSER_RESTORES_WITHIN_MS);
    document.fonts.addEventListener('loadingdone', restoreScroll);
    const stop = () => {
      active = false;
      clearTimeout(timer);
      browserScroll.abort();
      document.fonts.removeEventListener('loadingdone', restoreScroll);
    };
    for (const type of MOVEMENTS) addEventListener(type, stop, { once: true });
    return stop;
    // Only on mount.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, []);
}

// Keeps the scroll position in the history entry, so Back restores it even after a reload.
import { useEffect, type RefObject } from 'react';

export type Action = 'hero' | 'film' | 'bar' | 'closing';

export type PlaceLeft = {
  readonly action: Action;
  /** CSS pixels from the top of the screen to the action, or to the place of the bar in the page. */
  readonly top: number;
};

export const isAction = (name: string | undefined): name is Action => name === 'hero' || name === 'closing';

/** Call this before adding another history entry. */
export function keepPlace(place: PlaceLeft): void {
  history.replaceState({ ...(history.state as object | null), left: place }, '');
}

export const placeLeft = (): PlaceLeft | undefined =>
  (history.state as { readonly left?: PlaceLeft } | null)?.left;

const MOVEMENTS = ['wheel', 'touchmove', 'keydown', 'pointerdown'];

/** Browsers restore their own scroll position within this time. */
const BROWSERS_OWN_MS = 400;

type Ref = RefObject<HTMLElement | null>;

/** Focuses the pressed call to action at its old position, or the headline. */
export function useArrival(
  headline: Ref,
  actions: Readonly<Record<Action, Ref>>,
  hasMoved: () => boolean,
): void {
  useEffect(() => {
    if (!hasMoved()) return undefined;
    const left = placeLeft();
    const arrival = left ? actions[left.action].current : headline.current;
    let unmoved = true;
    const settle = () => {
      if (!unmoved) return;
      if (left && arrival) window.scrollBy({ top: arrival.getBoundingClientRect().top - left.top });
      else window.scrollTo(0, 0);
    };
    settle();
    const holdsButton = left?.action === 'film' || left?.action === 'bar';
    (holdsButton ? arrival?.querySelector('button') : arrival)?.focus({ preventScroll: true });
    // A smooth scroll on the form may still be running.
    requestAnimationFrame(() => requestAnimationFrame(settle));
    // A busy browser restores its position some frames later. Later scrolling is the visitor's, even without a key, wheel or pointer (voice
    // control, screen readers).
    const restoring = new AbortController();
    addEventListener('scroll', settle, { passive: true, signal: restoring.signal });
    const timer = setTimeout(() => restoring.abort(), BROWSERS_OWN_MS);
    document.fonts.addEventListener('loadingdone', settle);
    const leave = () => {
      unmoved = false;
      clearTimeout(timer);
      restoring.abort();
      document.fonts.removeEventListener('loadingdone', settle);
    };
    for (const type of MOVEMENTS) addEventListener(type, leave, { once: true });
    return leave;
    // Only on mount.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, []);
}

// Brings a visitor who comes back from another stage to the place they left.
import { useEffect, type RefObject } from 'react';

import { placeIn, type Action } from '#web/landing/return-point.ts';

/** Events by which a visitor moves the page. */
const MOVEMENTS = ['wheel', 'touchmove', 'keydown', 'pointerdown'];

/** So long after the arrival a scroll that no visitor made is the browser's own. */
const BROWSERS_OWN_MS = 400;

type Ref = RefObject<HTMLElement | null>;

/**
 * Puts the focus on the call to action that was pressed, where the page stood, or on the headline.
 * @param hasMoved whether the visitor comes back from another stage
 */
export function useArrival(
  headline: Ref,
  actions: Readonly<Record<Action, Ref>>,
  hasMoved: () => boolean,
): void {
  useEffect(() => {
    if (!hasMoved()) return undefined;
    const left = placeIn(history.state);
    const arrival = left ? actions[left.action].current : headline.current;
    let unmoved = true;
    const settle = () => {
      if (!unmoved) return;
      // Where the page stood, even if a font or a picture has changed its height meanwhile.
      if (left && arrival) window.scrollBy({ top: arrival.getBoundingClientRect().top - left.top });
      else window.scrollTo(0, 0);
    };
    settle();
    const holdsButton = left?.action === 'film' || left?.action === 'bar';
    (holdsButton ? arrival?.querySelector('button') : arrival)?.focus({ preventScroll: true });
    // The form may have been left during a smooth scroll, whose rest is still added.
    requestAnimationFrame(() => requestAnimationFrame(settle));
    // A busy browser restores its own place some frames after the page is there. What scrolls later is the visitor's, also without
    // a key, a wheel or a pointer, as by voice or with a screen reader.
    const restoring = new AbortController();
    addEventListener('scroll', settle, { passive: true, signal: restoring.signal });
    const timer = setTimeout(() => restoring.abort(), BROWSERS_OWN_MS);
    // After a reload the font arrives later, and must not move the page before the visitor does.
    document.fonts.addEventListener('loadingdone', settle);
    const leave = () => {
      unmoved = false;
      clearTimeout(timer);
      restoring.abort();
      document.fonts.removeEventListener('loadingdone', settle);
    };
    for (const type of MOVEMENTS) addEventListener(type, leave, { once: true });
    return leave;
    // Only on arrival.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, []);
}

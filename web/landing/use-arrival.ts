// Brings a visitor who comes back from another stage to the place they left.
import { useEffect, type RefObject } from 'react';

import { placeIn, type Action } from '#web/landing/return-point.ts';

/** Events by which a visitor moves the page. */
const MOVEMENTS = ['wheel', 'touchmove', 'keydown', 'pointerdown'];

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
      else window.scrollTo({ top: 0 });
    };
    settle();
    const { film } = actions;
    (arrival === film.current ? film.current?.querySelector('button') : arrival)?.focus({
      preventScroll: true,
    });
    // The form may have been left during a smooth scroll, whose rest is still added.
    requestAnimationFrame(() => requestAnimationFrame(settle));
    // After a reload the font arrives later, and must not move the page before the visitor does.
    document.fonts.addEventListener('loadingdone', settle);
    const leave = () => {
      unmoved = false;
      document.fonts.removeEventListener('loadingdone', settle);
    };
    for (const type of MOVEMENTS) addEventListener(type, leave, { once: true });
    return leave;
    // Only on arrival.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, []);
}

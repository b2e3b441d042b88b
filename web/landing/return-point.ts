// Stores in the history entry which call to action was pressed, and where it was on the screen, so Back returns there even after a
// reload.
import { useEffect, type RefObject } from 'react';

/** A call to action: in the hero, after the film, in the bar or at the end of the page. */
export type Action = 'hero' | 'film' | 'bar' | 'closing';

export type ReturnPoint = {
  readonly action: Action;
  /** CSS pixels from the top of the screen to the call to action. For the floating bar, to its place in the page. */
  readonly top: number;
};

/** The buttons of the film and the bar appear only in the running app. */
export const isPrerenderedAction = (name: string | undefined): name is Action =>
  name === 'hero' || name === 'closing';

/** Call this before adding another history entry. `left` stands for where the visitor left the page. */
export function saveReturnPoint(point: ReturnPoint): void {
  history.replaceState({ ...(history.state as object | null), left: point }, '');
}

export const readReturnPoint = (): ReturnPoint | undefined =>
  (history.state as { readonly left?: ReturnPoint } | null)?.left;

const USER_INPUT_EVENTS = ['wheel', 'touchmove', 'keydown', 'pointerdown'];

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
    const targetContainsButton = point?.action === 'film' || point?.action === 'bar';
    (targetContainsButton ? target?.querySelector('button') : target)?.focus({ preventScroll: true });
    // A smooth scroll on the form may still be running.
    requestAnimationFrame(() => requestAnimationFrame(restoreScroll));
    // A busy browser restores its own position some frames later. After this time, scrolling is the visitor's, even without a key,
    // wheel or pointer (voice control, screen readers). The scroll event of restoreScroll itself has no effect, because nothing is
    // left to scroll.
    const browserScroll = new AbortController();
    addEventListener('scroll', restoreScroll, { passive: true, signal: browserScroll.signal });
    const timer = setTimeout(() => browserScroll.abort(), BROWSER_RESTORES_WITHIN_MS);
    // A loaded font may move the call to action.
    document.fonts.addEventListener('loadingdone', restoreScroll);
    const stop = () => {
      active = false;
      clearTimeout(timer);
      browserScroll.abort();
      document.fonts.removeEventListener('loadingdone', restoreScroll);
    };
    for (const type of USER_INPUT_EVENTS) addEventListener(type, stop, { once: true });
    return stop;
    // Only on mount.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, []);
}

import { useEffect, useRef, type RefObject } from 'react';

/**
 * Moves the focus to an element when it appears, without scrolling: a new stage begins at its heading, for the
 * keyboard and for screen readers.
 */
export function useFocusOnMount<T extends HTMLElement>(): RefObject<T | null> {
  const element = useRef<T>(null);
  useEffect(() => {
    element.current?.focus({ preventScroll: true });
  }, []);
  return element;
}

import { useEffect, useRef, type RefObject } from 'react';

/** Focuses an element when it appears, without scrolling. Keyboard and screen reader users start a new stage at its heading. */
export function useFocusOnMount<T extends HTMLElement>(): RefObject<T | null> {
  const element = useRef<T>(null);
  useEffect(() => {
    element.current?.focus({ preventScroll: true });
  }, []);
  return element;
}

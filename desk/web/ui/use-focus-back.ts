// Gives the focus back when a dialogue closes. Radix does so only for its own Trigger, and most of our dialogues have none.
import { useRef } from 'react';

type FocusBack = {
  readonly onOpenAutoFocus: () => void;
  readonly onCloseAutoFocus: (event: Event) => void;
};

/** For Radix's Content: what had the focus gets it again, or the heading of the page where that is gone. */
export function useFocusBack(): FocusBack {
  const before = useRef<Element | null>(null);
  return {
    onOpenAutoFocus: () => {
      before.current = document.activeElement;
    },
    onCloseAutoFocus: (event) => {
      event.preventDefault();
      const { current } = before;
      const to = current?.isConnected && current !== document.body ? current : document.querySelector('h1');
      if (to instanceof HTMLElement) to.focus({ preventScroll: true });
    },
  };
}

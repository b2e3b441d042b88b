// Specification, section 4: toasts close after 5000 ms, after a swipe of 50 px to the right, or with the button; F8 focuses them.
import * as RadixToast from '@radix-ui/react-toast';
import { useEffect, useRef, useSyncExternalStore, type RefObject } from 'react';

import { toasts as words } from '#campaign/interface.yaml';
import { Button } from '#web/ui/button.tsx';
import { CloseIcon } from '#web/ui/icons.tsx';
import { toasts, type Toast } from '#web/ui/toast-store.ts';
import styles from '#web/ui/toaster.module.css';

const AUTO_CLOSE_MS = 5000;
const SWIPE_THRESHOLD_PX = 50;

export function Toaster() {
  const shown = useSyncExternalStore(toasts.subscribe, toasts.get, toasts.get);
  const viewport = useRef<HTMLOListElement>(null);
  const restoreFocus = useFocusReturn(viewport, shown[0]?.id);
  return (
    <RadixToast.Provider
      // Radix stops its timer while the pointer or the focus is on a toast and does not restart it when the last toast has closed,
      // so the next one would stay forever. A new key restarts it.
      key={shown[0]?.id}
      label={words.announced}
      duration={AUTO_CLOSE_MS}
      swipeDirection="right"
      swipeThreshold={SWIPE_THRESHOLD_PX}
    >
      {shown.map((toast) => (
        <ToastCard
          key={toast.id}
          toast={toast}
          onDismiss={() => {
            toasts.dismiss(toast.id);
            restoreFocus();
          }}
        />
      ))}
      <RadixToast.Viewport ref={viewport} className={styles.viewport} hotkey={['F8']} label={words.region} />
    </RadixToast.Provider>
  );
}

/** @returns a function that moves the focus from the toasts back to the previous element */
function useFocusReturn(viewport: RefObject<HTMLElement | null>, shown: string | undefined): () => void {
  const lastFocused = useRef<Element | null>(null);

  useEffect(() => {
    const onFocus = () => {
      const region = regionOf(viewport);
      if (region?.contains(document.activeElement)) return;
      lastFocused.current = document.activeElement;
      // The header cannot scroll, so on a short screen the toast moves below it (toaster.module.css).
      viewport.current?.toggleAttribute('data-below-header', Boolean(lastFocused.current?.closest('header')));
      requestAnimationFrame(() => region && uncoverFocus(region));
    };
    const resized = new ResizeObserver(onFocus);
    if (viewport.current) resized.observe(viewport.current);
    document.addEventListener('focusin', onFocus);
    return () => {
      resized.disconnect();
      document.removeEventListener('focusin', onFocus);
    };
    // Also runs for a new toast.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [viewport, shown]);

  return () => {
    if (!regionOf(viewport)?.contains(document.activeElement)) return;
    const previous = lastFocused.current;
    const target =
      previous?.isConnected && previous !== document.body ? previous : document.querySelector('h1');
    if (target instanceof HTMLElement) target.focus({ preventScroll: true });
  };
}

const regionOf = (viewport: RefObject<HTMLElement | null>) => viewport.current?.parentElement;

const GAP_PX = 24;

/** Keeps toasts from covering the focused element (WCAG 2.4.11). */
function uncoverFocus(region: Element): void {
  const focused = document.activeElement;
  const toast = region.querySelector('li')?.getBoundingClientRect();
  // A focused heading is not operable, so it may be covered.
  if (!toast || !(focused instanceof HTMLElement) || focused.tabIndex < 0 || region.contains(focused)) return;
  const { top, bottom, left, right } = focused.getBoundingClientRect();
  if (bottom <= toast.top || top >= toast.bottom || right <= toast.left || left >= toast.right) return;
  const atTop = toast.bottom < window.innerHeight - toast.top;
  window.scrollBy({ top: atTop ? top - toast.bottom - GAP_PX : bottom - toast.top + GAP_PX });
}

function ToastCard({ toast, onDismiss }: { readonly toast: Toast; readonly onDismiss: () => void }) {
  const destructive = toast.variant === 'destructive';
  return (
    <RadixToast.Root
      className={`${styles.toast} ${destructive ? styles.destructive : ''}`}
      data-variant={destructive ? 'destructive' : 'default'}
      open={toast.open}
      onOpenChange={(open) => {
        if (!open) onDismiss();
      }}
    >
      <div className={styles.text}>
        <RadixToast.Title className={styles.title}>{toast.title}</RadixToast.Title>
        {/* Separates the title and the description in the announcement. */}{' '}
        <RadixToast.Description
          className={styles.description}
          data-radix-toast-announce-exclude={toast.spokenThere ? '' : undefined}
        >
          {toast.prefix && <span className={styles.prefix}>{toast.prefix}</span>}
          <span>{toast.description}</span>
        </RadixToast.Description>
      </div>
      <RadixToast.Close asChild>
        <Button look="icon" className={styles.close} aria-label={words.close}>
          <CloseIcon size={18} />
        </Button>
      </RadixToast.Close>
    </RadixToast.Root>
  );
}

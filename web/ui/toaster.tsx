// Shows the toasts (specification, section 4): closes by itself after 5000 ms, by a swipe to the right of 50 px, or
// by its button; F8 moves the focus to the region.
import * as RadixToast from '@radix-ui/react-toast';
import { createContext, useContext, useSyncExternalStore, type ReactNode } from 'react';

import { toasts as words } from '#campaign/interface.yaml';
import { Button } from '#web/ui/button.tsx';
import { CloseIcon } from '#web/ui/icons.tsx';
import type { Toast } from '#web/ui/toast-state.ts';
import type { ToastStore } from '#web/ui/toast-store.ts';
import styles from '#web/ui/toaster.module.css';

const AUTO_CLOSE_MS = 5000;
const SWIPE_THRESHOLD_PX = 50;

const ToastContext = createContext<ToastStore | null>(null);

/** Gives everything inside it toasts to show. */
export function ToastProvider({
  store,
  children,
}: {
  readonly store: ToastStore;
  readonly children: ReactNode;
}) {
  return <ToastContext value={store}>{children}</ToastContext>;
}

/** The page's toasts. */
export function useToasts(): ToastStore {
  const store = useContext(ToastContext);
  if (store === null) throw new Error('useToasts needs a ToastProvider above it.');
  return store;
}

/** The region where toasts appear. */
export function Toaster() {
  const store = useToasts();
  const toasts = useSyncExternalStore(store.subscribe, store.getState, store.getState);
  return (
    <RadixToast.Provider
      // Whoever closes a toast has the pointer or the focus on it, which stops the time of Radix's provider, and nothing
      // starts it again when the last toast has gone: the next one would stay for ever. So each toast begins afresh.
      key={toasts[0]?.id}
      duration={AUTO_CLOSE_MS}
      swipeDirection="right"
      swipeThreshold={SWIPE_THRESHOLD_PX}
    >
      {toasts.map((toast) => (
        <ToastCard key={toast.id} toast={toast} onDismiss={() => store.dismiss(toast.id)} />
      ))}
      <RadixToast.Viewport className={styles.viewport} hotkey={['F8']} label={words.region} />
    </RadixToast.Provider>
  );
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
      <RadixToast.Title className={styles.title}>{toast.title}</RadixToast.Title>
      <RadixToast.Description className={styles.description}>
        {toast.prefix && <span className={styles.prefix}>{toast.prefix}</span>}
        <span>{toast.description}</span>
      </RadixToast.Description>
      <RadixToast.Close asChild>
        <Button look="icon" className={styles.close} aria-label={words.close}>
          <CloseIcon size={18} />
        </Button>
      </RadixToast.Close>
    </RadixToast.Root>
  );
}

// Dialogues over the page, by Radix: focus goes in, stays, and comes back. Radix's own overlay is not used: it writes styles into the
// document, which the policy forbids.
import * as RadixDialog from '@radix-ui/react-dialog';
import { useRef, type ComponentType, type ReactNode } from 'react';

import { Button } from '#desk/web/ui/button.tsx';
import { parts as words } from '#desk/web/words.ts';
import styles from '#desk/web/ui/dialog.module.css';
import { CloseIcon } from '#web/ui/icons.tsx';

/** What lies between a dialogue and the page. */
export const Backdrop = () => <div className={styles.backdrop} aria-hidden />;

/** For a dialogue that code opens: gives the focus back to what had it, or to the page's heading when that is gone. */
export function useFocusBack() {
  const before = useRef<Element>(null);
  return {
    onOpenAutoFocus: () => {
      before.current = document.activeElement;
    },
    onCloseAutoFocus: (event: Event) => {
      event.preventDefault();
      const to = before.current?.isConnected ? before.current : document.querySelector('h1');
      if (to instanceof HTMLElement) to.focus({ preventScroll: true });
    },
  };
}

type DialogProps = {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  /** A sentence under the title. */
  readonly text?: ReactNode;
  readonly children: ReactNode;
};

/** A dialogue that Escape, its cross and a press beside it close. */
export function Dialog({ open, onOpenChange, title, text, children }: DialogProps) {
  const focusBack = useFocusBack();
  return (
    <RadixDialog.Root open={open} onOpenChange={onOpenChange}>
      <RadixDialog.Portal>
        <Backdrop />
        <div className={styles.place}>
          <RadixDialog.Content
            className={styles.dialog}
            aria-modal
            {...focusBack}
            {...(text === undefined && { 'aria-describedby': undefined })}
          >
            <div className={styles.head}>
              <RadixDialog.Title>{title}</RadixDialog.Title>
              <RadixDialog.Close asChild>
                <Button look="icon" className={styles.close} aria-label={words.close}>
                  <CloseIcon size={18} />
                </Button>
              </RadixDialog.Close>
            </div>
            {text !== undefined && (
              <RadixDialog.Description className={styles.text}>{text}</RadixDialog.Description>
            )}
            {children}
          </RadixDialog.Content>
        </div>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

type DialogFormProps = {
  /** Radix's part around the button that closes the dialogue. */
  readonly Cancel?: ComponentType<{ readonly asChild: true; readonly children: ReactNode }>;
  /** The button that does it: a verb. */
  readonly action: string;
  /** What the button says meanwhile. */
  readonly working?: string;
  /** Whether it cannot be undone. */
  readonly isDanger?: boolean;
  readonly isBusy?: boolean;
  /** False until what it asks for is filled in. */
  readonly isReady?: boolean;
  /** Why it failed. */
  readonly error?: Error | null | undefined;
  readonly onSubmit: () => void;
  readonly children?: ReactNode;
};

/** What a dialogue asks for, and its two buttons. It is sent once at a time. */
export function DialogForm({
  Cancel = RadixDialog.Close,
  action,
  working = words.working,
  isDanger = false,
  isBusy = false,
  isReady = true,
  error,
  onSubmit,
  children,
}: DialogFormProps) {
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && !isBusy) onSubmit();
      }}
    >
      {children}
      {error && (
        <p className={styles.error} role="alert">
          {error.message}
        </p>
      )}
      <DialogActions>
        <Cancel asChild>
          {/* It would read as if nothing was done. */}
          <Button disabled={isBusy}>{words.cancel}</Button>
        </Cancel>
        <Button
          type="submit"
          look={isDanger ? 'danger' : 'primary'}
          disabled={!isReady}
          aria-busy={isBusy || undefined}
        >
          {isBusy ? working : action}
        </Button>
      </DialogActions>
    </form>
  );
}

/** The buttons at the end of a dialogue. */
export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <div className={styles.actions}>{children}</div>;
}

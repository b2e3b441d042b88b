import * as RadixDialog from '@radix-ui/react-dialog';
import * as RadixAlert from '@radix-ui/react-alert-dialog';
import type { UseMutationResult } from '@tanstack/react-query';
import { useRef, type ComponentType, type ReactNode } from 'react';

import { Button } from '#desk/web/ui/button.tsx';
import styles from '#desk/web/ui/dialog.module.css';
import { CloseIcon } from '#web/ui/icons.tsx';

export const Backdrop = () => <div className={styles.backdrop} aria-hidden />;

/** Moves focus back after a dialogue opened by code, or to the page's heading if that fails. */
function useFocusBack() {
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
  readonly onClose: () => void;
  readonly title: string;
  readonly text: ReactNode;
  readonly children: ReactNode;
};

/** Open while it is mounted. */
export function Dialog({ onClose, title, text, children }: DialogProps) {
  const focusBack = useFocusBack();
  return (
    <RadixDialog.Root open onOpenChange={onClose}>
      <RadixDialog.Portal>
        <Backdrop />
        <div className={styles.place}>
          <RadixDialog.Content className={styles.dialog} aria-modal {...focusBack}>
            <div className={styles.head}>
              <RadixDialog.Title>{title}</RadixDialog.Title>
              <RadixDialog.Close asChild>
                <Button look="icon" className={styles.close} aria-label="Close">
                  <CloseIcon size={18} />
                </Button>
              </RadixDialog.Close>
            </div>
            <RadixDialog.Description className="quiet">{text}</RadixDialog.Description>
            {children}
          </RadixDialog.Content>
        </div>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

type DialogFormProps = {
  /** Radix's component around the button that closes the dialogue. */
  readonly Cancel?: ComponentType<{ readonly asChild: true; readonly children: ReactNode }>;
  readonly action: string;
  readonly working?: string;
  readonly isDanger?: boolean;
  readonly isReady?: boolean;
  /** The dialogue may be closed while busy, which stops the work. */
  readonly canLeave?: boolean;
  readonly change: Pick<UseMutationResult, 'isPending' | 'error'>;
  readonly onSubmit: () => void;
  readonly children?: ReactNode;
};

export function DialogForm({
  Cancel = RadixDialog.Close,
  action,
  working = 'Working …',
  isDanger = false,
  isReady = true,
  canLeave = false,
  change: { isPending, error },
  onSubmit,
  children,
}: DialogFormProps) {
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && !isPending) onSubmit();
      }}
    >
      {children}
      {error && (
        <p className={styles.error} role="alert">
          {error.message}
        </p>
      )}
      <div className={styles.actions}>
        <Cancel asChild>
          {/* Usually disabled while busy, because closing the dialogue would suggest that nothing happened. */}
          <Button disabled={isPending && !canLeave}>Cancel</Button>
        </Cancel>
        <Button
          type="submit"
          look={isDanger ? 'danger' : 'primary'}
          disabled={!isReady}
          aria-busy={isPending || undefined}
        >
          {isPending ? working : action}
        </Button>
      </div>
    </form>
  );
}

type ConfirmProps = Omit<DialogFormProps, 'Cancel' | 'onSubmit' | 'working'> &
  Omit<DialogProps, 'children'> & { readonly onConfirm: () => void };

/** Open while it is mounted. */
export function Confirm({ onClose, title, text, onConfirm, ...form }: ConfirmProps) {
  const focusBack = useFocusBack();
  return (
    <RadixAlert.Root open onOpenChange={() => !form.change.isPending && onClose()}>
      <RadixAlert.Portal>
        <Backdrop />
        <div className={styles.place}>
          <RadixAlert.Content className={styles.dialog} aria-modal {...focusBack}>
            <RadixAlert.Title>{title}</RadixAlert.Title>
            <RadixAlert.Description className="quiet">{text}</RadixAlert.Description>
            <DialogForm {...form} Cancel={RadixAlert.Cancel} onSubmit={onConfirm} />
          </RadixAlert.Content>
        </div>
      </RadixAlert.Portal>
    </RadixAlert.Root>
  );
}

// Asks before something that changes or ends something; stays open while it is done, and shows why it failed.
import * as RadixAlert from '@radix-ui/react-alert-dialog';
import type { ReactNode } from 'react';

import { Button } from '#desk/web/ui/button.tsx';
import { Backdrop, DialogActions, useFocusBack } from '#desk/web/ui/dialog.tsx';
import { parts as words } from '#desk/web/words.ts';
import styles from '#desk/web/ui/dialog.module.css';

type ConfirmProps = {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  readonly text: ReactNode;
  /** The button that does it: a verb. */
  readonly action: string;
  /** Whether it cannot be undone. */
  readonly isDanger?: boolean;
  readonly onConfirm: () => void;
  readonly isBusy?: boolean;
  /** False until what it asks for is filled in. */
  readonly isReady?: boolean;
  readonly error?: Error | null;
  /** Fields that belong to it. */
  readonly children?: ReactNode;
};

export function Confirm({
  open,
  onOpenChange,
  title,
  text,
  action,
  isDanger = false,
  onConfirm,
  isBusy = false,
  isReady = true,
  error,
  children,
}: ConfirmProps) {
  const focusBack = useFocusBack();
  return (
    <RadixAlert.Root open={open} onOpenChange={onOpenChange}>
      <RadixAlert.Portal>
        <Backdrop />
        <div className={styles.place}>
          <RadixAlert.Content className={styles.dialog} aria-modal {...focusBack}>
            <RadixAlert.Title>{title}</RadixAlert.Title>
            <RadixAlert.Description className={styles.text}>{text}</RadixAlert.Description>
            <form
              className={styles.form}
              onSubmit={(event) => {
                event.preventDefault();
                if (isReady && !isBusy) onConfirm();
              }}
            >
              {children}
              {error && (
                <p className={styles.error} role="alert">
                  {error.message}
                </p>
              )}
              <DialogActions>
                <RadixAlert.Cancel asChild>
                  <Button>{words.cancel}</Button>
                </RadixAlert.Cancel>
                <Button
                  type="submit"
                  look={isDanger ? 'danger' : 'primary'}
                  disabled={!isReady}
                  aria-busy={isBusy || undefined}
                >
                  {isBusy ? words.working : action}
                </Button>
              </DialogActions>
            </form>
          </RadixAlert.Content>
        </div>
      </RadixAlert.Portal>
    </RadixAlert.Root>
  );
}

import * as RadixDialog from '@radix-ui/react-dialog';
import type { UseMutationResult } from '@tanstack/react-query';
import { useRef, type ReactNode } from 'react';

import { Button } from '#desk/web/ui/button.tsx';
import styles from '#desk/web/ui/dialog.module.css';
import { CloseIcon } from '#web/ui/icons.tsx';

export const Backdrop = () => <div className={styles.backdrop} aria-hidden />;

type DialogProps = {
  readonly onClose: () => void;
  readonly title: string;
  readonly text: ReactNode;
  /** A question is closed only by its buttons and Escape, and first focuses Cancel. */
  readonly isQuestion?: boolean;
  readonly children: ReactNode;
};

/** Open while it is mounted. */
export function Dialog({ onClose, title, text, isQuestion = false, children }: DialogProps) {
  const before = useRef<Element>(null);
  return (
    <RadixDialog.Root open onOpenChange={onClose}>
      <RadixDialog.Portal>
        <Backdrop />
        <div className={styles.place}>
          <RadixDialog.Content
            className={`panel stack ${styles.dialog}`}
            role={isQuestion ? 'alertdialog' : 'dialog'}
            aria-modal
            onInteractOutside={(event) => isQuestion && event.preventDefault()}
            onOpenAutoFocus={(event) => {
              before.current = document.activeElement;
              if (!isQuestion) return;
              event.preventDefault();
              document.querySelector<HTMLElement>(`.${styles.actions} button`)?.focus();
            }}
            // Back to what opened the dialogue, or to the page's heading if that is gone.
            onCloseAutoFocus={(event) => {
              event.preventDefault();
              const to = before.current?.isConnected ? before.current : document.querySelector('h1');
              if (to instanceof HTMLElement) to.focus({ preventScroll: true });
            }}
          >
            <div className={`apart ${styles.head}`}>
              <RadixDialog.Title>{title}</RadixDialog.Title>
              {!isQuestion && (
                <RadixDialog.Close asChild>
                  <Button look="icon" className={styles.close} aria-label="Close">
                    <CloseIcon size={18} />
                  </Button>
                </RadixDialog.Close>
              )}
            </div>
            <RadixDialog.Description className="quiet">{text}</RadixDialog.Description>
            {children}
          </RadixDialog.Content>
        </div>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

type DialogFormProps<What, Answered> = {
  readonly send: UseMutationResult<Answered, Error, What>;
  readonly asked: What;
  readonly onDone: (answer: Answered) => void;
  readonly action: string;
  readonly working?: string;
  readonly isDanger?: boolean;
  readonly isReady?: boolean;
  /** The dialogue may be closed while busy, which stops the work. */
  readonly canLeave?: boolean;
  readonly children?: ReactNode;
};

export function DialogForm<What, Answered>({
  send: { mutate, isPending, error },
  asked,
  onDone,
  action,
  working = 'Working …',
  isDanger = false,
  isReady = true,
  canLeave = false,
  children,
}: DialogFormProps<What, Answered>) {
  return (
    <form
      className={`stack ${styles.form}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && !isPending) mutate(asked, { onSuccess: onDone });
      }}
    >
      {children}
      {error && (
        <p className={styles.error} role="alert">
          {error.message}
        </p>
      )}
      <div className={`row ${styles.actions}`}>
        <RadixDialog.Close asChild>
          {/* Usually disabled while busy, because closing the dialogue would suggest that nothing happened. */}
          <Button disabled={isPending && !canLeave}>Cancel</Button>
        </RadixDialog.Close>
        <Button type="submit" look={isDanger ? 'danger' : 'primary'} disabled={!isReady} isBusy={isPending}>
          {isPending ? working : action}
        </Button>
      </div>
    </form>
  );
}

type ConfirmProps<What, Answered> = DialogFormProps<What, Answered> &
  Pick<DialogProps, 'onClose' | 'title' | 'text'>;

export const Confirm = <What, Answered>({ onClose, title, text, ...form }: ConfirmProps<What, Answered>) => (
  <Dialog isQuestion onClose={() => !form.send.isPending && onClose()} title={title} text={text}>
    <DialogForm {...form} />
  </Dialog>
);

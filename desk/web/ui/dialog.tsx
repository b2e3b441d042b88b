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
  /** If true, only its buttons and Escape close it, and Cancel has the focus first. */
  readonly isQuestion?: boolean;
  /** If true, a click outside does not close it. */
  readonly hasDraft?: boolean;
  readonly children: ReactNode;
};

/** Open while mounted. */
export function Dialog({
  onClose,
  title,
  text,
  isQuestion = false,
  hasDraft = false,
  children,
}: DialogProps) {
  const opener = useRef<Element>(null);
  return (
    <RadixDialog.Root open onOpenChange={onClose}>
      <RadixDialog.Portal>
        <Backdrop />
        <div className={styles.place}>
          <RadixDialog.Content
            className={`panel stack ${styles.dialog}`}
            role={isQuestion ? 'alertdialog' : 'dialog'}
            aria-modal
            onInteractOutside={(event) => (isQuestion || hasDraft) && event.preventDefault()}
            onOpenAutoFocus={(event) => {
              opener.current = document.activeElement;
              if (!isQuestion) return;
              event.preventDefault();
              document.querySelector<HTMLElement>(`.${styles.actions} button`)?.focus();
            }}
            // Returns to the element that opened the dialog, or to the page's heading if that element is gone.
            onCloseAutoFocus={(event) => {
              event.preventDefault();
              const to = opener.current?.isConnected ? opener.current : document.querySelector('h1');
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

type DialogFormProps<Input, Output> = {
  readonly mutation: UseMutationResult<Output, Error, Input>;
  readonly input: Input;
  readonly onDone: (output: Output) => void;
  readonly action: string;
  readonly working?: string;
  readonly isDanger?: boolean;
  readonly isReady?: boolean;
  /** If true, the dialog can be closed while busy, which cancels the request. */
  readonly canLeave?: boolean;
  readonly children?: ReactNode;
};

export function DialogForm<Input, Output>({
  mutation: { mutate, isPending, error },
  input,
  onDone,
  action,
  working = 'Working …',
  isDanger = false,
  isReady = true,
  canLeave = false,
  children,
}: DialogFormProps<Input, Output>) {
  return (
    <form
      className={`stack ${styles.form}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && !isPending) mutate(input, { onSuccess: onDone });
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
          {/* Usually disabled while busy, because closing the dialog would suggest that nothing happened. */}
          <Button disabled={isPending && !canLeave}>Cancel</Button>
        </RadixDialog.Close>
        <Button type="submit" look={isDanger ? 'danger' : 'primary'} disabled={!isReady} isBusy={isPending}>
          {isPending ? working : action}
        </Button>
      </div>
    </form>
  );
}

type ConfirmProps<Input, Output> = DialogFormProps<Input, Output> &
  Pick<DialogProps, 'onClose' | 'title' | 'text'>;

export const Confirm = <Input, Output>({ onClose, title, text, ...form }: ConfirmProps<Input, Output>) => (
  <Dialog isQuestion onClose={() => !form.mutation.isPending && onClose()} title={title} text={text}>
    <DialogForm {...form} />
  </Dialog>
);

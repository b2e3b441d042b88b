import * as RadixAlert from '@radix-ui/react-alert-dialog';
import type { ComponentProps, ReactNode } from 'react';

import { Backdrop, DialogForm, useFocusBack } from '#desk/web/ui/dialog.tsx';
import styles from '#desk/web/ui/dialog.module.css';

type ConfirmProps = Omit<ComponentProps<typeof DialogForm>, 'Cancel' | 'onSubmit' | 'working'> & {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  readonly text: ReactNode;
  readonly onConfirm: () => void;
};

export function Confirm({ open, onOpenChange, title, text, onConfirm, ...form }: ConfirmProps) {
  const focusBack = useFocusBack();
  return (
    <RadixAlert.Root open={open} onOpenChange={(next) => !form.isBusy && onOpenChange(next)}>
      <RadixAlert.Portal>
        <Backdrop />
        <div className={styles.place}>
          <RadixAlert.Content className={styles.dialog} aria-modal {...focusBack}>
            <RadixAlert.Title>{title}</RadixAlert.Title>
            <RadixAlert.Description className={styles.text}>{text}</RadixAlert.Description>
            <DialogForm {...form} Cancel={RadixAlert.Cancel} onSubmit={onConfirm} />
          </RadixAlert.Content>
        </div>
      </RadixAlert.Portal>
    </RadixAlert.Root>
  );
}

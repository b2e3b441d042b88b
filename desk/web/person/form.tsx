// The frame of the forms that change a person: fields, what the server refused, and two buttons.
import type { FormEvent, ReactNode } from 'react';

import styles from '#desk/web/person/form.module.css';
import { parts as words } from '#desk/web/words.ts';
import { Button } from '#desk/web/ui/button.tsx';

/**
 * @param error what the server refused, null for nothing
 * @param isReady false: there is nothing to send yet
 */
export function ChangeForm({
  children,
  error,
  isSending,
  isReady = true,
  isDangerous = false,
  confirm,
  onSend,
  onCancel,
}: {
  readonly children: ReactNode;
  readonly error: Error | null;
  readonly isSending: boolean;
  readonly isReady?: boolean;
  readonly isDangerous?: boolean;
  readonly confirm: string;
  readonly onSend: () => void;
  readonly onCancel: () => void;
}) {
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (isReady && !isSending) onSend();
  };
  return (
    <form className={styles.form} onSubmit={send} noValidate>
      {children}
      {error !== null && (
        <p className={styles.error} role="alert">
          {error.message}
        </p>
      )}
      <div className={styles.end}>
        <Button onClick={onCancel}>{words.cancel}</Button>
        <Button
          type="submit"
          look={isDangerous ? 'danger' : 'primary'}
          disabled={!isReady}
          aria-busy={isSending || undefined}
        >
          {confirm}
        </Button>
      </div>
    </form>
  );
}

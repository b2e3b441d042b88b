import { Button } from '#desk/web/ui/button.tsx';
import { failure as words } from '#desk/web/words.ts';
import styles from '#desk/web/ui/states.module.css';

type FailedProps = { readonly error: Error; readonly onRetry?: () => void };

export function FailedState({ error, onRetry }: FailedProps) {
  return (
    <div className={styles.failed} role="alert">
      <p className={styles.title}>{words.title}</p>
      <p>{error.message}</p>
      {onRetry && (
        <div className={styles.actions}>
          <Button onClick={onRetry}>{words.again}</Button>
        </div>
      )}
    </div>
  );
}

import { failure as words } from '#desk/web/words.ts';
import styles from '#desk/web/ui/states.module.css';

export function Skeleton({ lines = 4 }: { readonly lines?: number }) {
  return (
    <div className={styles.skeleton} role="status">
      <span className="unseen">{words.loading}</span>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} className={styles.line} aria-hidden />
      ))}
    </div>
  );
}

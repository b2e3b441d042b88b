import type { ReactNode } from 'react';

import styles from '#desk/web/ui/states.module.css';

type EmptyProps = { readonly title?: string; readonly text: string; readonly children?: ReactNode };

export function EmptyState({ title, text, children }: EmptyProps) {
  return (
    <div className={styles.empty}>
      {title !== undefined && <p className={styles.title}>{title}</p>}
      <p>{text}</p>
      {children && <div className={styles.actions}>{children}</div>}
    </div>
  );
}

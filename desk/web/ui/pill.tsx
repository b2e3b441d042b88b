import type { ReactNode } from 'react';

import styles from '#desk/web/ui/pill.module.css';

export type Tone = 'plain' | 'good' | 'warning' | 'problem';

export function Pill({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return <span className={`${styles.pill} ${styles[tone]}`}>{children}</span>;
}

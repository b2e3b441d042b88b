// The fixed header of every stage but the article: product title and theme toggle.
import type { ReactNode } from 'react';

import * as site from '#content/site.yaml';
import styles from '#web/frame/frame.module.css';
import { Mark } from '#web/frame/mark.tsx';
import { ThemeToggle } from '#web/theme/theme-toggle.tsx';

/** @param children what the article puts in place of the product title */
export function SiteHeader({ children }: { readonly children?: ReactNode }) {
  return (
    <header className={styles.header}>
      <div className={styles.headerRow}>
        {children ?? (
          <a className={styles.brand} href="/">
            <Mark />
            <span>{site.title}</span>
          </a>
        )}
        <ThemeToggle />
      </div>
    </header>
  );
}

import type { ComponentProps } from 'react';

import { Button as PageButton } from '#web/ui/button.tsx';
import styles from '#desk/web/ui/button.module.css';
import { toggleTheme } from '#web/theme/theme.ts';
import { MoonIcon, SunIcon } from '#web/ui/icons.tsx';

type Look = 'primary' | 'plain' | 'text' | 'icon' | 'danger';

type ButtonProps = Omit<ComponentProps<typeof PageButton>, 'look'> & {
  readonly look?: Look;
  /** Ignores clicks, but keeps the focus. */
  readonly isBusy?: boolean;
};

export function Button({ look = 'plain', isBusy = false, className, onClick, ...props }: ButtonProps) {
  return (
    <PageButton
      aria-busy={isBusy || undefined}
      onClick={isBusy ? undefined : onClick}
      look={look === 'danger' ? 'primary' : look}
      className={[styles.button, styles[look], className].filter(Boolean).join(' ')}
      {...props}
    />
  );
}

export function ThemeButton() {
  return (
    <Button
      look="icon"
      title="Switch between light and dark"
      aria-label="Switch between light and dark"
      onClick={() => toggleTheme(document.documentElement)}
    >
      <MoonIcon size={18} className={styles.moon} />
      <SunIcon size={18} className={styles.sun} />
    </Button>
  );
}

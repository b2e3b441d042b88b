import type { ComponentProps } from 'react';

import { Button as PageButton } from '#web/ui/button.tsx';
import styles from '#desk/web/ui/button.module.css';
import { toggleTheme } from '#web/theme/theme.ts';
import { MoonIcon, SunIcon } from '#web/ui/icons.tsx';

type Look = 'primary' | 'plain' | 'text' | 'icon' | 'danger';

export function Button({
  look = 'plain',
  className,
  ...props
}: Omit<ComponentProps<typeof PageButton>, 'look'> & { readonly look?: Look }) {
  return (
    <PageButton
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

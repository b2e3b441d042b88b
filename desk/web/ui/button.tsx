import type { ComponentProps } from 'react';

import { Button as PageButton } from '#web/ui/button.tsx';
import styles from '#desk/web/ui/button.module.css';

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

import type { ComponentProps } from 'react';

import styles from '#web/ui/button.module.css';
import looks from '#web/ui/button-looks.module.css';

type Look = 'primary' | 'plain' | 'text' | 'icon';

const LOOKS: Readonly<Record<Look, string | undefined>> = {
  primary: styles.primary,
  plain: looks.plain,
  text: looks.text,
  icon: styles.icon,
};

/** For links that look like buttons. */
export const buttonClass = (look: Look, className?: string): string =>
  [styles.button, LOOKS[look], className].filter(Boolean).join(' ');

export function Button({
  look = 'plain',
  className,
  ...props
}: ComponentProps<'button'> & { readonly look?: Look }) {
  return <button type="button" className={buttonClass(look, className)} {...props} />;
}

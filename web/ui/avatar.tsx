// A person's picture over their initials: when the picture does not come, the initials are what is seen, with or
// without a script running.
import { useState } from 'react';

import { initialsOf } from '#web/ui/initials.ts';
import styles from '#web/ui/avatar.module.css';

type AvatarProps = {
  readonly name: string;
  /** Addresses of the picture in AVIF and, for older browsers, WebP. */
  readonly avif: string;
  readonly webp: string;
};

/** Decorative: the name stands beside it. */
export function Avatar({ name, avif, webp }: AvatarProps) {
  const [failed, setFailed] = useState(false);
  return (
    <span className={styles.avatar}>
      <span aria-hidden>{initialsOf(name)}</span>
      {!failed && (
        <picture>
          <source srcSet={avif} type="image/avif" />
          <img src={webp} alt="" width={56} height={56} loading="lazy" onError={() => setFailed(true)} />
        </picture>
      )}
    </span>
  );
}

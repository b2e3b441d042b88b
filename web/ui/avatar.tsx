// A person's picture over their initials: when the picture does not come, the initials are what is seen, with or
// without a script running. (A picture without alternative text that fails to load shows nothing at all.)
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
  return (
    <span className={styles.avatar}>
      <span aria-hidden>{initialsOf(name)}</span>
      <picture>
        <source srcSet={avif} type="image/avif" />
        <img src={webp} alt="" width={56} height={56} loading="lazy" />
      </picture>
    </span>
  );
}

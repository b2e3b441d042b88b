// A person's picture over their initials: when the picture does not come, the initials are what is seen, with or
// without a script running. (A picture without alternative text that fails to load shows nothing at all.)
import { initialsOf } from '#web/ui/initials.ts';
import styles from '#web/ui/avatar.module.css';
import { SITE_PATH } from '#web/site-path.ts';

type AvatarProps = {
  readonly name: string;
  /** The picture's name in the campaign's media/, where it lies as AVIF and, for older browsers, WebP; none: initials. */
  readonly image: string | undefined;
};

/** Decorative: the name stands beside it. */
export function Avatar({ name, image }: AvatarProps) {
  return (
    <span className={styles.avatar}>
      <span aria-hidden>{initialsOf(name)}</span>
      {image && (
        <picture>
          <source srcSet={`${SITE_PATH}/media/${image}.avif`} type="image/avif" />
          <img src={`${SITE_PATH}/media/${image}.webp`} alt="" width={56} height={56} loading="lazy" />
        </picture>
      )}
    </span>
  );
}

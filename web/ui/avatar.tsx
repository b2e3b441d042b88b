import { initialsOf } from '#web/ui/initials.ts';
import styles from '#web/ui/avatar.module.css';
import { SITE_PATH } from '#web/site-path.ts';

type AvatarProps = {
  readonly name: string;
  /** Base name of the AVIF and WebP files in media/; undefined shows the initials. */
  readonly image: string | undefined;
};

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

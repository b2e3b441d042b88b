import { verification as words } from '#campaign/interface.yaml';
import { firstPages } from '#campaign/landing.yaml';
import { CLOSED_ENVELOPE_PARTS } from '#shared/closed-envelope.ts';
import { SITE_PATH } from '#web/site-path.ts';
import styles from '#web/verification/waiting-aside.module.css';

/** Next to the code boxes: the envelope that opens with the right code, and the guide's first pages to read until the code comes. */
export function WaitingAside({ email }: { readonly email: string }) {
  return (
    <aside className={styles.aside} aria-label={words.whileYouWait}>
      <div className={styles.envelope} aria-hidden>
        <svg viewBox="0 60 200 138" width="200" height="138">
          {CLOSED_ENVELOPE_PARTS.map(([part, path]) => (
            <path key={part} className={styles[part]} d={path} />
          ))}
        </svg>
        <span dir="ltr" data-email={email} />
      </div>
      {words.whileYouWait && firstPages && (
        <>
          <p>{words.whileYouWait}</p>
          <picture>
            <source type="image/avif" srcSet={pagesOf('avif')} sizes={SIZES} />
            <img
              srcSet={pagesOf('webp')}
              sizes={SIZES}
              alt={firstPages}
              width={480}
              height={330}
              loading="lazy"
            />
          </picture>
        </>
      )}
    </aside>
  );
}

const SIZES = '(min-width: 1024px) 40vw, 90vw';
const pagesOf = (type: string): string =>
  [480, 960].map((width) => `${SITE_PATH}/media/inside-1-${width}.${type} ${width}w`).join(', ');

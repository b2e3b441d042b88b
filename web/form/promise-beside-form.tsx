// What the visitor gets for an address, repeated beside the form: the guide, what it teaches, and a testimonial. Narrow screens
// show one line above the form in its place.
import { closing, promise, testimonial } from '#campaign/landing.yaml';
import styles from '#web/form/promise-beside-form.module.css';
import { Avatar } from '#web/ui/avatar.tsx';

/** One line; hidden where the whole promise stands beside the form. */
export function PromiseLine() {
  return promise && <p className={styles.line}>{promise.line}</p>;
}

/** Beside the form, on wide screens. */
export function PromiseAside() {
  if (promise === undefined) return null;
  const { title, points, imageAlt } = promise;
  const { name, role, image, quote, metric } = testimonial;
  return (
    <aside className={styles.aside} aria-labelledby="promise">
      {imageAlt && (
        <picture>
          <source srcSet="/media/guide-400.avif 1x, /media/guide-800.avif 2x" type="image/avif" />
          <img
            src="/media/guide-400.webp"
            srcSet="/media/guide-800.webp 2x"
            alt={imageAlt}
            width={400}
            height={300}
            loading="lazy"
          />
        </picture>
      )}
      <h2 id="promise">{title}</h2>
      <ul>
        {points.map((point) => (
          <li key={point}>{point}</li>
        ))}
      </ul>
      <figure>
        <blockquote>
          <p>{quote}</p>
        </blockquote>
        <figcaption>
          <Avatar name={name} image={image} />
          <span>
            <strong>{name}</strong>
            <span>{role}</span>
            <span>{metric}</span>
          </span>
        </figcaption>
      </figure>
      <p className={styles.note}>{closing.note}</p>
    </aside>
  );
}

import { closing, promise, testimonial } from '#campaign/landing.yaml';
import { PromiseCover } from '#web/guide/guide-cover.tsx';
import { GuidePicture } from '#web/guide/pictures.tsx';
import styles from '#web/steps/promise-beside-step.module.css';
import { Avatar } from '#web/ui/avatar.tsx';
import { DottedParts, NoBreak } from '#web/ui/no-break.tsx';

export function PromiseLine() {
  return promise && <span className={styles.line}>{promise.line} </span>;
}

export function Reassurances() {
  return (
    <p className={styles.note}>
      <DottedParts text={closing.note} />
    </p>
  );
}

export function PromiseAside() {
  if (promise === undefined) return null;
  const { title, points, imageAlt } = promise;
  return (
    <aside className={styles.aside} aria-labelledby="promise">
      {imageAlt ? <GuidePicture alt={imageAlt} width="20rem" /> : <PromiseCover />}
      <h2 id="promise">{title}</h2>
      <ul>
        {points.map((point) => (
          <li key={point}>
            <span>
              <NoBreak text={point} />
            </span>
          </li>
        ))}
      </ul>
      {testimonial && <Testimonial {...testimonial} />}
    </aside>
  );
}

function Testimonial({ name, role, image, quote, metric }: NonNullable<typeof testimonial>) {
  return (
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
  );
}

// What the visitor gets for an address, repeated beside the form and the code: the guide, what it teaches, and a testimonial.
// On narrow screens it stands under the code; the form has one line in its place.
import { closing, promise, testimonial } from '#campaign/landing.yaml';
import { PromiseCover } from '#web/guide/guide-cover.tsx';
import { GuidePicture } from '#web/guide/guide-picture.tsx';
import styles from '#web/steps/promise-beside-step.module.css';
import { Avatar } from '#web/ui/avatar.tsx';
import { DottedParts, NoBreak } from '#web/ui/no-break.tsx';

/** A step on the way to the guide that has a screen of its own kind. */
export type Step = 'form' | 'code';

/** One line; hidden where the whole promise stands beside the form. */
export function PromiseLine() {
  return promise && <p className={styles.line}>{promise.line}</p>;
}

/** The reassurances of the closing card, below the button. A line ends between two of them, never inside one. */
export function Reassurances() {
  return (
    <p className={styles.note}>
      <DottedParts text={closing.note} />
    </p>
  );
}

/** Beside the step on wide screens, below the code on narrow ones. */
export function PromiseAside({ step }: { readonly step: Step }) {
  if (promise === undefined) return null;
  const { title, points, imageAlt } = promise;
  const { name, role, image, quote, metric } = testimonial;
  return (
    <aside className={styles.aside} data-step={step} aria-labelledby="promise">
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
    </aside>
  );
}

// 'Proven Results From Real Teams': two people, each with a quote and a metric.
import landing from '#content/landing.yaml';
import styles from '#web/landing/landing.module.css';
import { Avatar } from '#web/ui/avatar.tsx';

/** The testimonials section. */
export function Testimonials() {
  const { title, cards } = landing.testimonials;
  return (
    <section className={styles.section} aria-labelledby="testimonials">
      <div className={styles.sectionHead}>
        <h2 id="testimonials">{title}</h2>
      </div>
      <ul className={styles.testimonials}>
        {cards.map(({ name, role, image, quote, metric }) => (
          <li key={name}>
            <figure>
              <p className={styles.metric}>{metric}</p>
              <blockquote>
                <p>{quote}</p>
              </blockquote>
              <figcaption>
                <Avatar name={name} avif={`/media/${image}.avif`} webp={`/media/${image}.webp`} />
                <span>
                  <strong>{name}</strong>
                  <span>{role}</span>
                </span>
              </figcaption>
            </figure>
          </li>
        ))}
      </ul>
    </section>
  );
}

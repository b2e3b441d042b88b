import { article } from '#campaign/interface.yaml';
import styles from '#web/content/content-stage.module.css';

/** The whole guide's contents, below the part that was read. */
export function GuideChapters() {
  // Not destructured, so the bundler needs no object with all entries.
  const chapters = article.chapters;
  if (!chapters) return null;
  return (
    <section className={styles.chapters} aria-labelledby="chapters">
      <h2 id="chapters">{chapters.title}</h2>
      <ol>
        {chapters.titles.map((title, index) => (
          <li key={title}>
            {title}
            {index < chapters.open && <span className={styles.read}>{chapters.read}</span>}
            {index === chapters.open && <span>{chapters.next}</span>}
          </li>
        ))}
      </ol>
    </section>
  );
}

// The footer: who publishes the page, and the two links an operator sets.
import * as site from '#campaign/site.yaml';
import styles from '#web/frame/frame.module.css';

/** The footer of the public stages. */
export function SiteFooter() {
  return (
    <footer className={styles.footer}>
      <div className={styles.footerRow}>
        <p>{site.copyright}</p>
        <ul>
          {site.footerLinks.map(({ label, href }) => (
            <li key={label}>
              <a href={href}>{label}</a>
            </li>
          ))}
        </ul>
      </div>
    </footer>
  );
}

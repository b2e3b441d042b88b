// The footer: who publishes the page, and the two links an operator sets.
import * as site from '#campaign/site.yaml';
import { fromOtherPage } from '#shared/links.ts';
import styles from '#web/frame/frame.module.css';
import { SITE_PATH } from '#web/site-path.ts';

type SiteFooterProps = {
  /** Whether it stands on a page that has none of the landing page's places. */
  readonly away?: boolean;
};

/** The footer of the public stages and of the 404 page. */
export function SiteFooter({ away = false }: SiteFooterProps) {
  return (
    <footer className={styles.footer}>
      <div className={styles.footerRow}>
        <p>{site.copyright}</p>
        <ul>
          {site.footerLinks.map(({ label, href }) => (
            <li key={label}>
              <a href={away ? fromOtherPage(href, SITE_PATH) : href}>{label}</a>
            </li>
          ))}
        </ul>
      </div>
    </footer>
  );
}

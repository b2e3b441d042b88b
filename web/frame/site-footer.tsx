import * as site from '#campaign/site.yaml';
import { fromOtherPage } from '#shared/words.ts';
import styles from '#web/frame/frame.module.css';
import { SITE_PATH } from '#web/site-path.ts';

type SiteFooterProps = {
  readonly away?: boolean;
};

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

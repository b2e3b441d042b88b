import { notFound } from '#campaign/interface.yaml';
import { ENVELOPE } from '#shared/drawings.ts';
import { SiteFooter } from '#web/frame/site-footer.tsx';
import { SiteHeader } from '#web/frame/site-header.tsx';
import { StaticPart } from '#web/frame/static-part.tsx';
import styles from '#web/not-found.module.css';
import { buttonClass } from '#web/ui/button.tsx';
import { DrawnPaths } from '#web/ui/drawn-paths.tsx';
import { SITE_PATH } from '#web/site-path.ts';

/** Served with status 404, so search engines drop the URL. */
export function NotFound() {
  return (
    <div className={styles.page}>
      <SiteHeader />
      <main className={styles.main}>
        <div className={styles.drawing}>
          <StaticPart id="envelope">{import.meta.env.SSR ? <Envelope /> : null}</StaticPart>
        </div>
        <div className={styles.words}>
          <h1>{notFound.title}</h1>
          <p>{notFound.text}</p>
          <p>
            <a className={buttonClass('primary')} href={`${SITE_PATH}/`}>
              {notFound.link}
            </a>
          </p>
        </div>
      </main>
      <SiteFooter away />
    </div>
  );
}

function Envelope() {
  return (
    <svg viewBox="0 0 200 200" width="200" height="200" aria-hidden>
      <DrawnPaths paths={ENVELOPE} />
    </svg>
  );
}

// The 404 page: any path but "/".
import { notFound } from '#campaign/interface.yaml';
import { SiteHeader } from '#web/frame/site-header.tsx';
import styles from '#web/not-found.module.css';
import button from '#web/ui/button.module.css';

/** Served with status 404, so search engines forget the address. */
export function NotFound() {
  return (
    <>
      <SiteHeader />
      <main className={styles.main}>
        <h1>{notFound.title}</h1>
        <p>{notFound.text}</p>
        <p>
          <a className={`${button.button} ${button.primary}`} href="/">
            {notFound.link}
          </a>
        </p>
      </main>
    </>
  );
}

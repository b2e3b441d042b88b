// The 404 page: any path but "/".
import { SiteHeader } from '#web/frame/site-header.tsx';
import styles from '#web/not-found.module.css';
import button from '#web/ui/button.module.css';

/** Served with status 404, so search engines forget the address. */
export function NotFound() {
  return (
    <>
      <SiteHeader />
      <main className={styles.main}>
        <h1>404 Page Not Found</h1>
        <p>There is nothing at this address. The guide is one click away.</p>
        <p>
          <a className={`${button.button} ${button.primary}`} href="/">
            Go to the guide
          </a>
        </p>
      </main>
    </>
  );
}

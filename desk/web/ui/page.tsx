import { useEffect, useId, useRef, type ReactNode } from 'react';

import { hasNavigated } from '#desk/web/router.tsx';
import styles from '#desk/web/ui/page.module.css';

type HeadProps = {
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
};

const Head = ({ lead, actions, children }: HeadProps) => (
  <div className={`row ${styles.head}`}>
    <div>
      {children}
      {lead && <p className={`quiet ${styles.lead}`}>{lead}</p>}
    </div>
    {actions && <div className="row">{actions}</div>}
  </div>
);

type PageProps = HeadProps & { readonly title: string; readonly back?: ReactNode };

/** After navigation, focus moves to the heading, so screen readers announce the page. */
export function Page({ back, title, children, ...head }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (hasNavigated()) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div className={`stack ${styles.page}`}>
      <title>{`${title} – Desk`}</title>
      <Head {...head}>
        {back && <p className={`links small ${styles.back}`}>{back}</p>}
        <h1 ref={heading} tabIndex={-1} className={styles.title}>
          {title}
        </h1>
      </Head>
      {children}
    </div>
  );
}

type SectionProps = HeadProps & { readonly title: string; readonly id?: string };

export function Section({ id: anchor, title, children, ...head }: SectionProps) {
  const id = useId();
  return (
    <section id={anchor} className={`stack ${styles.section}`} aria-labelledby={id}>
      <Head {...head}>
        <h2 id={id}>{title}</h2>
      </Head>
      {children}
    </section>
  );
}

import { useEffect, useId, useRef, type ReactNode } from 'react';

import { hasMoved } from '#desk/web/router.tsx';
import styles from '#desk/web/ui/page.module.css';

type PageProps = {
  readonly back?: ReactNode;
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
};

/** After navigation, focus moves to the heading, so screen readers announce the page. */
export function Page({ back, title, lead, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (hasMoved()) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div className={`stack ${styles.page}`}>
      <title>{`${title} – Desk`}</title>
      <div className={`row ${styles.head}`}>
        <div>
          {back && <p className={`links small ${styles.back}`}>{back}</p>}
          <h1 ref={heading} tabIndex={-1} className={styles.title}>
            {title}
          </h1>
          {lead && <p className={`quiet ${styles.lead}`}>{lead}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

type SectionProps = {
  readonly id?: string;
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
};

export function Section({ id: anchor, title, lead, actions, children }: SectionProps) {
  const id = useId();
  return (
    <section id={anchor} className={`stack ${styles.section}`} aria-labelledby={id}>
      <div className={`row ${styles.head}`}>
        <div>
          <h2 id={id}>{title}</h2>
          {lead && <p className={`quiet ${styles.lead}`}>{lead}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </div>
      {children}
    </section>
  );
}

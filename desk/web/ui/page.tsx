// A page's heading with what can be done on it, and the sections below.
import { useEffect, useId, useRef, type ReactNode } from 'react';

import { hasMoved } from '#desk/web/router.ts';
import { frame as words } from '#desk/web/words.ts';
import styles from '#desk/web/ui/page.module.css';

type PageProps = {
  readonly title: string;
  /** A sentence under the title. */
  readonly lead?: ReactNode;
  /** Buttons beside the title. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
};

/** A page of the desk. After a change of pages its heading has the focus, so that a screen reader says where the reader is. */
export function Page({ title, lead, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (hasMoved()) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div className={styles.page}>
      <title>{words.titleOf(title)}</title>
      <div className={styles.head}>
        <div>
          <h1 ref={heading} tabIndex={-1} className={styles.title}>
            {title}
          </h1>
          {lead && <p className={styles.lead}>{lead}</p>}
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </div>
      {children}
    </div>
  );
}

type SectionProps = {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
};

/** A part of a page with a heading. */
export function Section({ title, lead, actions, children }: SectionProps) {
  const id = useId();
  return (
    <section className={styles.section} aria-labelledby={id}>
      <div className={styles.head}>
        <div>
          <h2 id={id}>{title}</h2>
          {lead && <p className={styles.lead}>{lead}</p>}
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </div>
      {children}
    </section>
  );
}

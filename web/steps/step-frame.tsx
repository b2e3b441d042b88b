import type { ReactNode, Ref } from 'react';

import { steps as words } from '#campaign/interface.yaml';
import { SiteFooter } from '#web/frame/site-footer.tsx';
import { SiteHeader } from '#web/frame/site-header.tsx';
import styles from '#web/steps/step-frame.module.css';

const STEPS = ['form', 'code', 'guide'] as const;
type Step = 'form' | 'code';

type StepFrameProps = {
  readonly step: Step;
  readonly onHome: () => void;
  readonly ref?: Ref<HTMLElement>;
  readonly labelledBy?: string;
  /** Next to the step on wide screens. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
};

export function StepFrame({ step, onHome, ref, labelledBy, aside, children }: StepFrameProps) {
  return (
    <>
      <SiteHeader onHome={onHome} />
      <main className={styles.main}>
        <section ref={ref} className={styles.step} aria-labelledby={labelledBy}>
          <Progress step={step} />
          {children}
        </section>
        {aside}
      </main>
      <SiteFooter />
    </>
  );
}

function Progress({ step }: { readonly step: Step }) {
  if (words === undefined) return null;
  const { label, ...names } = words;
  const current = STEPS.indexOf(step);
  return (
    <ol className={styles.progress} aria-label={label}>
      {STEPS.map((name, index) => (
        <li
          key={name}
          data-done={index < current || undefined}
          aria-current={index === current ? 'step' : undefined}
        >
          {names[name]}
        </li>
      ))}
    </ol>
  );
}

// What the form and the code screen share: header, footer, how far the visitor has come, and the promise beside the column
// of the step. Both screens stand in the same places, so nothing jumps from one to the other.
import type { ReactNode, Ref } from 'react';

import { steps as words } from '#campaign/interface.yaml';
import { SiteFooter } from '#web/frame/site-footer.tsx';
import { SiteHeader } from '#web/frame/site-header.tsx';
import { PromiseAside, type Step } from '#web/steps/promise-beside-step.tsx';
import styles from '#web/steps/step-frame.module.css';

const STEPS = ['form', 'code', 'guide'] as const;

type StepFrameProps = {
  readonly step: Step;
  readonly onHome: () => void;
  /** The column of the step. */
  readonly ref?: Ref<HTMLElement>;
  /** The id of the heading, where the column is to be a region of that name. */
  readonly labelledBy?: string;
  readonly children: ReactNode;
};

/** A screen on the way to the guide. */
export function StepFrame({ step, onHome, ref, labelledBy, children }: StepFrameProps) {
  return (
    <>
      <SiteHeader onHome={onHome} />
      <main className={styles.main}>
        <section ref={ref} className={styles.step} aria-labelledby={labelledBy}>
          <Progress step={step} />
          {children}
        </section>
        <PromiseAside step={step} />
      </main>
      <SiteFooter />
    </>
  );
}

/** How far the visitor has come. */
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

import { useEffect, useRef } from 'react';

import { form as words } from '#campaign/interface.yaml';
import { countStep } from '#web/analytics/steps.ts';
import styles from '#web/form/form-stage.module.css';
import { CodeRequestForm, type CodeRequestFormProps } from '#web/form/code-request-form.tsx';
import { reportStep } from '#web/funnel.ts';
import { PromiseAside, PromiseLine, Reassurances } from '#web/steps/promise-beside-step.tsx';
import { StepFrame } from '#web/steps/step-frame.tsx';
import { NoBreak } from '#web/ui/no-break.tsx';
import { useFocusOnMount } from '#web/ui/use-focus-on-mount.ts';

/** Specification, section 9. */
const SCROLL_DELAY_MS = 100;

type FormStageProps = CodeRequestFormProps & {
  readonly onHome: () => void;
  /** Called once, on mount. */
  readonly correctsEmail: () => boolean;
};

export function FormStage({ draft, onDraftChange, onCodeRequested, onHome, correctsEmail }: FormStageProps) {
  const section = useRef<HTMLElement>(null);
  const heading = useFocusOnMount<HTMLHeadingElement>();

  useEffect(() => {
    reportStep('opened');
    countStep('opened');
    const email = correctsEmail() ? section.current?.querySelector<HTMLInputElement>('[name=email]') : null;
    email?.focus({ preventScroll: true });
    // CSS does not stop a scripted smooth scroll, so reduced motion is checked here.
    const behavior = matchMedia('(prefers-reduced-motion:reduce)').matches ? 'instant' : 'smooth';
    const timer = setTimeout(() => {
      if (email) email.scrollIntoView({ behavior, block: 'center' });
      else section.current?.scrollIntoView({ behavior });
    }, SCROLL_DELAY_MS);
    return () => clearTimeout(timer);
    // Only on mount.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, []);

  return (
    <StepFrame step="form" ref={section} labelledBy="form-title" onHome={onHome} aside={<PromiseAside />}>
      <h1 id="form-title" ref={heading} tabIndex={-1}>
        <NoBreak text={words.title} />
      </h1>
      <p className={styles.intro}>
        <PromiseLine />
        <NoBreak text={words.intro} />
      </p>
      <CodeRequestForm draft={draft} onDraftChange={onDraftChange} onCodeRequested={onCodeRequested} />
      <Reassurances />
    </StepFrame>
  );
}

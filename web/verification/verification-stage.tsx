// The verification stage: six boxes, a resend area and a status text (specification, sections 2 and 4).
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import { toasts as toastWords, verification as words } from '#campaign/interface.yaml';
import { language } from '#campaign/site.yaml';
import type { CodeRequested } from '#shared/api.ts';
import type { Lead } from '#shared/lead.ts';
import { CODE_LENGTH } from '#shared/limits.ts';
import { fill } from '#shared/words.ts';
import { requestCode, verifyCode } from '#web/api-client.ts';
import { SiteFooter } from '#web/frame/site-footer.tsx';
import { SiteHeader } from '#web/frame/site-header.tsx';
import { failureToast } from '#web/messages.ts';
import { resendAt, type Waiting } from '#web/stage.ts';
import { Button } from '#web/ui/button.tsx';
import { useFocusOnMount } from '#web/ui/use-focus-on-mount.ts';
import { useToasts } from '#web/ui/toaster.tsx';
import { CodeBoxes } from '#web/verification/code-boxes.tsx';
import { announcement, countdownText, secondsLeft } from '#web/verification/countdown.ts';
import styles from '#web/verification/verification-stage.module.css';

type VerificationStageProps = Waiting & {
  readonly onCodeRequested: (lead: Lead, consentVersion: string, answer: CodeRequested | null) => void;
  readonly onWrongAddress: () => void;
  readonly onVerified: () => void;
  readonly onHome: () => void;
};

const [beforeEmail, afterEmail] = fill(words.sentTo, { digits: CODE_LENGTH }).split('{email}');
const COUNTDOWN_WORDS = {
  language,
  resendIn: words.resendIn,
  canResendIn: words.canResendIn,
  canResendNow: words.canResendNow,
};

/** The verification stage. */
export function VerificationStage({
  lead,
  challenge,
  onCodeRequested,
  onWrongAddress,
  onVerified,
  onHome,
}: VerificationStageProps) {
  const toasts = useToasts();
  const heading = useFocusOnMount<HTMLHeadingElement>();
  // Counts refusals: each one empties the boxes.
  const [refusals, setRefusals] = useState(0);

  const verification = useMutation({
    mutationFn: (code: string) => verifyCode({ email: lead.email, code }),
    onSuccess: () => {
      toasts.add(toastWords.verified);
      onVerified();
    },
    onError: (error) => {
      toasts.add(failureToast(toastWords.verificationFailed, error));
      setRefusals((count) => count + 1);
    },
  });

  useEffect(() => {
    window.scrollTo({ top: 0 });
  }, []);

  return (
    <>
      <SiteHeader onHome={onHome} />
      <main className={styles.main}>
        <section className={styles.section} aria-labelledby="verification-title">
          <h1 id="verification-title" ref={heading} tabIndex={-1}>
            {words.title}
          </h1>
          <p className={styles.intro}>
            <span>{beforeEmail}</span>
            <strong dir="ltr">{lead.email}</strong>
            <span>{afterEmail}</span>
          </p>
          <Button look="text" onClick={onWrongAddress}>
            {words.wrongAddress}
          </Button>
          <CodeBoxes
            key={challenge.id}
            refusals={refusals}
            disabled={verification.isPending}
            onComplete={(code) => {
              if (!verification.isPending) verification.mutate(code);
            }}
          />
          <p className={styles.status} role="status">
            {verification.isPending ? words.verifying : ''}
          </p>
          {challenge.reference && (
            <p className={styles.reference}>{fill(words.reference, { reference: challenge.reference })}</p>
          )}
          <ResendArea lead={lead} challenge={challenge} onCodeRequested={onCodeRequested} />
        </section>
      </main>
      <SiteFooter />
    </>
  );
}

/** When the hint about the spam folder appears. */
const SPAM_HINT_AFTER_MS = 30_000;
const TICK_MS = 250;

function ResendArea({
  lead,
  challenge,
  onCodeRequested,
}: Pick<VerificationStageProps, 'lead' | 'challenge' | 'onCodeRequested'>) {
  const toasts = useToasts();
  const now = useNow();
  const resend = useMutation({
    mutationFn: () => requestCode(lead, challenge.consentVersion),
    onSuccess: (answer) => {
      toasts.add(toastWords.codeSent);
      onCodeRequested(lead, challenge.consentVersion, answer);
    },
    onError: (error) => {
      toasts.add(failureToast(toastWords.submissionFailed, error));
    },
  });
  // From the press on, not from the answer: the countdown restarts at once.
  const [pressedAt, setPressedAt] = useState<number | null>(null);
  const waiting = resend.isPending && pressedAt !== null;
  const [startedAt, until] = waiting
    ? [pressedAt, resendAt(pressedAt)]
    : [challenge.askedAt, challenge.resendAt];
  // The tick may be older than the press: a countdown must not begin with 61.
  const seconds = secondsLeft(until, Math.max(now, startedAt));

  return (
    <div className={styles.resend}>
      {seconds > 0 ? (
        <p>{countdownText(COUNTDOWN_WORDS, seconds)}</p>
      ) : (
        <Button
          onClick={() => {
            setPressedAt(Date.now());
            resend.mutate();
          }}
        >
          {words.resend}
        </Button>
      )}
      <p className={styles.announcement} aria-live="polite">
        {announcement(COUNTDOWN_WORDS, seconds)}
      </p>
      {now - challenge.askedAt >= SPAM_HINT_AFTER_MS && <p className={styles.hint}>{words.lookInSpam}</p>}
    </div>
  );
}

/** The time, a few times a second. A deadline is compared with it, so a tab that slept is right when it wakes. */
function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

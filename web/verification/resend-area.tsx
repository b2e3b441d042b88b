// The resend area: a countdown, then a button that asks for another code.
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import { toasts as toastWords, verification as words } from '#campaign/interface.yaml';
import { language, variant } from '#campaign/site.yaml';
import { timeNow } from '#shared/clock.ts';
import type { CodeRequested } from '#shared/api.ts';
import type { Lead } from '#shared/lead.ts';
import { requestCode } from '#web/api-client.ts';
import { ownVariant } from '#web/variant.ts';
import { failureToast } from '#web/messages.ts';
import { resendAt, type Waiting } from '#web/stage.ts';
import { Button } from '#web/ui/button.tsx';
import { useToasts } from '#web/ui/toaster.tsx';
import { announcement, countdownText, secondsLeft } from '#web/verification/countdown.ts';
import { NothingCame } from '#web/verification/mail-help.tsx';
import styles from '#web/verification/verification-stage.module.css';

const COUNTDOWN_WORDS = {
  language,
  resendIn: words.resendIn,
  canResendIn: words.canResendIn,
  canResendNow: words.canResendNow,
};
/** After this time, a visitor who had the mail would have entered its code. */
const NOTHING_CAME_AFTER_MS = 20_000;
const TICK_MS = 250;

/** Called with each answer, on whichever stage the visitor is by then. */
export type OnCodeSentAgain = (lead: Lead, consentVersion: string, answer: CodeRequested | null) => void;

type ResendAreaProps = Waiting & {
  readonly onCodeSentAgain: OnCodeSentAgain;
  /** Whether the mail may have arrived, as far as we know. */
  readonly mayStillCome: boolean;
  readonly onPressed: () => void;
};

/** The resend area of the verification stage. */
export function ResendArea({ lead, challenge, mayStillCome, onPressed, onCodeSentAgain }: ResendAreaProps) {
  const toasts = useToasts();
  const now = useNow();
  const resend = useMutation({
    mutationFn: () => requestCode(lead, challenge.consentVersion, variant ? ownVariant() : undefined),
    // Also when the visitor has left the stage: coming back, they find the newest mail's reference.
    onSuccess: (answer) => onCodeSentAgain(lead, challenge.consentVersion, answer),
  });
  // The countdown restarts at the press, before the answer.
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
            setPressedAt(timeNow());
            resend.mutate(undefined, {
              onSuccess: () => void toasts.add(toastWords.codeSent),
              onError: (error) => void toasts.add(failureToast(toastWords.submissionFailed, error)),
            });
            onPressed();
          }}
        >
          {words.resend}
        </Button>
      )}
      <p className={styles.announcement} aria-live="polite">
        {announcement(COUNTDOWN_WORDS, seconds)}
      </p>
      {mayStillCome && now - challenge.askedAt >= NOTHING_CAME_AFTER_MS && <NothingCame />}
    </div>
  );
}

/** The time, four times a second. It is compared with a deadline, so a tab that slept is right when it wakes. */
function useNow(): number {
  const [now, setNow] = useState(timeNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(timeNow()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

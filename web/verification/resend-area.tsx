import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import { toasts as toastWords, verification as words } from '#campaign/interface.yaml';
import { language, variant } from '#campaign/site.yaml';
import { timeNow } from '#shared/clock.ts';
import type { CodeRequested } from '#shared/api.ts';
import type { LeadForm } from '#shared/lead.ts';
import { requestCode } from '#web/api-client.ts';
import { ownVariant } from '#web/variant.ts';
import { failureToast } from '#web/messages.ts';
import { resendAt, type Waiting } from '#web/stage.ts';
import { Button } from '#web/ui/button.tsx';
import { toasts } from '#web/ui/toast-store.ts';
import { announcement, countdownText, secondsLeft } from '#web/verification/countdown.ts';
import { NothingCame } from '#web/verification/mail-help.tsx';
import styles from '#web/verification/verification-stage.module.css';

const COUNTDOWN_WORDS = {
  language,
  resendIn: words.resendIn,
  canResendIn: words.canResendIn,
  canResendNow: words.canResendNow,
};
const NOTHING_CAME_AFTER_MS = 20_000;
const TICK_MS = 250;

export type OnCodeSentAgain = (
  lead: LeadForm,
  consentVersion: string,
  response: CodeRequested | null,
) => void;

type ResendAreaProps = Waiting & {
  readonly onCodeSentAgain: OnCodeSentAgain;
  readonly mayStillCome: boolean;
  /** Ends the countdown, because the server would mail a new code at once. */
  readonly mayResendNow: boolean;
  readonly onPressed: () => void;
};

export function ResendArea({
  lead,
  challenge,
  mayStillCome,
  mayResendNow,
  onPressed,
  onCodeSentAgain,
}: ResendAreaProps) {
  const now = useNow();
  const resend = useMutation({
    mutationFn: () => requestCode(lead, challenge.consentVersion, variant ? ownVariant() : undefined),
    onSuccess: (response) => onCodeSentAgain(lead, challenge.consentVersion, response),
  });
  // The countdown restarts at the press, before the response.
  const [pressedAt, setPressedAt] = useState<number | null>(null);
  const waiting = resend.isPending && pressedAt !== null;
  const [startedAt, until] = waiting
    ? [pressedAt, resendAt(pressedAt)]
    : [challenge.askedAt, challenge.resendAt];
  // The last tick may be older than the press, which would show 61.
  const seconds = mayResendNow && !waiting ? 0 : secondsLeft(until, Math.max(now, startedAt));

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

/** Compared with a deadline, so the countdown is right when a suspended tab wakes. */
function useNow(): number {
  const [now, setNow] = useState(timeNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(timeNow()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

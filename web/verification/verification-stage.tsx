// The verification stage: six boxes, a resend area and a status text (specification, sections 2 and 4).
import { useMutation, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ComponentProps } from 'react';

import { toasts as toastWords, verification as words } from '#campaign/interface.yaml';
import { language } from '#campaign/site.yaml';
import type { CodeRequested } from '#shared/api.ts';
import type { Lead } from '#shared/lead.ts';
import { CODE_LENGTH } from '#shared/lengths-and-resend-seconds.ts';
import { fill } from '#shared/words.ts';
import {
  ARTICLE_KEY,
  failedWith,
  fetchOpenChallenge,
  isDeadCode,
  requestCode,
  verifyCode,
} from '#web/api-client.ts';
import { SiteFooter } from '#web/frame/site-footer.tsx';
import { SiteHeader } from '#web/frame/site-header.tsx';
import { failureToast } from '#web/messages.ts';
import { resendAt, type Waiting } from '#web/stage.ts';
import { Button } from '#web/ui/button.tsx';
import { useFocusOnMount } from '#web/ui/use-focus-on-mount.ts';
import type { ToastContent } from '#web/ui/toast-state.ts';
import { useToasts } from '#web/ui/toaster.tsx';
import { CodeBoxes } from '#web/verification/code-boxes.tsx';
import { announcement, countdownText, secondsLeft } from '#web/verification/countdown.ts';
import { MailHelp, NothingCame } from '#web/verification/mail-help.tsx';
import { useMailFate } from '#web/verification/use-mail-fate.ts';
import styles from '#web/verification/verification-stage.module.css';

type VerificationStageProps = Waiting & {
  /** Told wherever the visitor is by then. */
  readonly onCodeSentAgain: (lead: Lead, consentVersion: string, answer: CodeRequested | null) => void;
  readonly onWrongAddress: () => void;
  /** The code was right. */
  readonly onVerified: () => void;
  /** It was used already, and the article opens all the same. */
  readonly onOpenAlready: () => void;
  readonly onHome: () => void;
};

const [beforeEmail, afterEmail = ''] = fill(words.sentTo, { digits: CODE_LENGTH }).split('{email}');
/** The full stop, in a language that puts it there. */
const [signAfterEmail = ''] = /^\S*/.exec(afterEmail) ?? [];
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
  onCodeSentAgain,
  onWrongAddress,
  onVerified,
  onOpenAlready,
  onHome,
}: VerificationStageProps) {
  const toasts = useToasts();
  const fate = useMailFate(challenge);
  // Counts refusals: each one empties the boxes.
  const [refusals, setRefusals] = useState(0);
  const boxes = useRef<HTMLDivElement>(null);
  const [failure, setFailure] = useState<ToastContent | null>(null);
  // The code that was neither right nor wrong. It stands in the boxes of its challenge until something else is typed.
  const [unchecked, setUnchecked] = useState<{ readonly code: string; readonly of: string } | null>(null);
  const queryClient = useQueryClient();

  const verification = useMutation({
    mutationFn: async (code: string) => {
      try {
        const article = await verifyCode({ email: lead.email, code });
        if (article) queryClient.setQueryData(ARTICLE_KEY, article);
        return { type: 'verified' } as const;
      } catch (error) {
        if (failedWith(error, 'wrong-code') && (await isOpenAlready(queryClient, challenge.id)))
          return { type: 'open already' } as const;
        throw error;
      }
    },
  });

  /** As in the form, an answer finds only whoever still waits for it here. */
  const verify = (code: string) => {
    if (verification.isPending) return;
    verification.mutate(code, {
      onSuccess: (outcome) => {
        if (outcome.type === 'open already') {
          onOpenAlready();
          return;
        }
        toasts.add(toastWords.verified);
        onVerified();
      },
      onError: (error) => {
        const told = failureToast(toastWords.verificationFailed, error);
        const dead = isDeadCode(error);
        // The sentence about dead digits stands, and is spoken, where they were typed.
        toasts.add(dead ? { ...told, spokenThere: true } : told);
        setFailure(dead ? told : null);
        if (dead) setRefusals((count) => count + 1);
        setUnchecked(dead ? null : { code, of: challenge.id });
      },
    });
  };

  useEffect(() => {
    window.scrollTo({ top: 0 });
  }, []);

  return (
    <>
      <SiteHeader onHome={onHome} />
      <main className={styles.main}>
        {/* No aria-labelledby: the caret goes into the boxes at once, and their group has the heading in its name. */}
        <section className={styles.section}>
          <h1 id="verification-title">{words.title}</h1>
          <p className={styles.intro} id="verification-intro">
            <span>{beforeEmail}</span>
            <strong className={signAfterEmail && styles.beforeSign} dir="ltr">
              {lead.email}
            </strong>
            <span className={styles.sign}>{signAfterEmail}</span>
            <span>{afterEmail.slice(signAfterEmail.length)}</span>
          </p>
          <Button look="text" onClick={onWrongAddress}>
            {words.wrongAddress}
          </Button>
          <CodeBoxes
            key={challenge.id}
            ref={boxes}
            headingId="verification-title"
            introId="verification-intro"
            refusals={refusals}
            failure={failure}
            disabled={verification.isPending}
            onEdit={() => setUnchecked(null)}
            onComplete={verify}
          />
          {unchecked?.of === challenge.id && (
            <div className={styles.unchecked}>
              <p id="unchecked">{words.notChecked}</p>
              <FirstButton aria-describedby="unchecked" onClick={() => verify(unchecked.code)}>
                {words.tryAgain}
              </FirstButton>
            </div>
          )}
          <p className={styles.status} role="status">
            {verification.isPending ? words.verifying : ''}
          </p>
          {challenge.reference && (
            <p className={styles.reference}>{fill(words.reference, { reference: challenge.reference })}</p>
          )}
          <MailHelp
            email={lead.email}
            sender={challenge.sender}
            fate={fate}
            onWrongAddress={onWrongAddress}
          />
          <ResendArea
            lead={lead}
            challenge={challenge}
            mayStillCome={fate !== 'refused' && fate !== 'delayed'}
            // The button goes, and this is where the code goes.
            onPressed={() => boxes.current?.querySelector('input')?.focus()}
            onCodeSentAgain={(...asked) => {
              setFailure(null);
              setUnchecked(null);
              onCodeSentAgain(...asked);
            }}
          />
        </section>
      </main>
      <SiteFooter />
    </>
  );
}

/**
 * Whether the article opens though the code was refused: another tab of this browser has used it up, or this browser had
 * access before and its code has expired. A wrong code for a challenge that still waits opens nothing.
 */
async function isOpenAlready(queryClient: QueryClient, challengeId: string): Promise<boolean> {
  try {
    if ((await fetchOpenChallenge(challengeId)) !== null) return false;
    await queryClient.fetchQuery({ queryKey: ARTICLE_KEY, staleTime: 0 });
    return true;
  } catch {
    return false;
  }
}

/** A button that is what to do next: it takes the focus when it appears. */
function FirstButton(props: ComponentProps<typeof Button>) {
  return <Button ref={useFocusOnMount<HTMLButtonElement>()} {...props} />;
}

/** When somebody who got the mail would have entered its code. */
const NOTHING_CAME_AFTER_MS = 20_000;
const TICK_MS = 250;

function ResendArea({
  lead,
  challenge,
  mayStillCome,
  onPressed,
  onCodeSentAgain,
}: Pick<VerificationStageProps, 'lead' | 'challenge' | 'onCodeSentAgain'> & {
  /** Whether the mail may be in the visitor's hands, as far as we know. */
  readonly mayStillCome: boolean;
  readonly onPressed: () => void;
}) {
  const toasts = useToasts();
  const now = useNow();
  const resend = useMutation({
    mutationFn: () => requestCode(lead, challenge.consentVersion),
    // Also when the visitor has left: coming back, they shall find the newest mail's reference.
    onSuccess: (answer) => onCodeSentAgain(lead, challenge.consentVersion, answer),
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
            resend.mutate(undefined, {
              onSuccess: () => {
                toasts.add(toastWords.codeSent);
              },
              onError: (error) => {
                toasts.add(failureToast(toastWords.submissionFailed, error));
              },
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

/** The time, a few times a second. A deadline is compared with it, so a tab that slept is right when it wakes. */
function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

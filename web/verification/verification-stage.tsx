import { useEffect, useRef, type ComponentProps } from 'react';

import { verification as words } from '#campaign/interface.yaml';
import { CODE_LENGTH } from '#shared/lengths-and-resend.ts';
import { fill } from '#shared/words.ts';
import type { Waiting } from '#web/stage.ts';
import { StepFrame } from '#web/steps/step-frame.tsx';
import { Button } from '#web/ui/button.tsx';
import { NoBreak } from '#web/ui/no-break.tsx';
import { useFocusOnMount } from '#web/ui/use-focus-on-mount.ts';
import { CodeBoxes } from '#web/verification/code-boxes.tsx';
import { MailHelp } from '#web/verification/mail-help.tsx';
import { ResendArea, type OnCodeSentAgain } from '#web/verification/resend-area.tsx';
import { useMailStatus } from '#web/verification/use-mail-status.ts';
import { useVerification } from '#web/verification/use-verification.ts';
import styles from '#web/verification/verification-stage.module.css';
import { WaitingAside } from '#web/verification/waiting-aside.tsx';

type VerificationStageProps = Waiting & {
  readonly onCodeSentAgain: OnCodeSentAgain;
  readonly onWrongEmail: () => void;
  readonly onVerified: () => void;
  readonly onOpenAlready: () => void;
  readonly onHome: () => void;
};

const [beforeEmail, afterEmail = ''] = fill(words.sentTo, { digits: CODE_LENGTH }).split('{email}');
const [signAfterEmail = ''] = /^\S*/.exec(afterEmail) ?? [];

export function VerificationStage({
  lead,
  challenge,
  onCodeSentAgain,
  onWrongEmail,
  onVerified,
  onOpenAlready,
  onHome,
}: VerificationStageProps) {
  const status = useMailStatus(challenge);
  const heading = useRef<HTMLHeadingElement>(null);
  const boxes = useRef<HTMLDivElement>(null);
  const verification = useVerification({ lead, challenge, onVerified, onOpenAlready });
  const { isPending, unchecked } = verification;
  const mayStillCome = status !== 'refused' && status !== 'delayed' && !verification.isUsedUp;

  useEffect(() => {
    window.scrollTo(0, 0);
  }, []);

  return (
    // Without labelledBy: the focused group of boxes already has the heading in its name.
    <StepFrame step="code" onHome={onHome} aside={<WaitingAside email={lead.email} />}>
      <h1 id="verification-title" ref={heading} tabIndex={-1}>
        <NoBreak text={words.title} />
      </h1>
      <SentTo id="verification-intro" email={lead.email} />
      <Button look="text" onClick={onWrongEmail}>
        {words.wrongAddress}
      </Button>
      <CodeBoxes
        key={challenge.id}
        ref={boxes}
        headingId="verification-title"
        introId="verification-intro"
        resets={verification.resets}
        failure={verification.failure}
        disabled={isPending}
        onDigitsChange={verification.forgetFailure}
        onCodeChange={verification.forgetUnchecked}
        onComplete={verification.verify}
      />
      {unchecked !== null && (
        <div className={styles.unchecked}>
          <p id="unchecked">{words.notChecked}</p>
          <FirstButton aria-describedby="unchecked" onClick={() => verification.verify(unchecked)}>
            {words.tryAgain}
          </FirstButton>
        </div>
      )}
      <p className={styles.status} role="status">
        {isPending ? words.verifying : ''}
      </p>
      {/* The error at the boxes names the reference itself. */}
      {challenge.reference && mayStillCome && verification.failure === null && (
        <p className={styles.reference}>
          <NoBreak text={fill(words.reference, { reference: challenge.reference })} />
        </p>
      )}
      <MailHelp email={lead.email} sender={challenge.sender} status={status} onWrongEmail={onWrongEmail} />
      <ResendArea
        lead={lead}
        challenge={challenge}
        mayStillCome={mayStillCome}
        mayResendNow={verification.isUsedUp}
        // The button is about to disappear, so the first box gets the focus, or the heading while a check has
        // the boxes disabled.
        onPressed={() => (isPending ? heading.current : boxes.current?.querySelector('input'))?.focus()}
        onCodeSentAgain={(...request) => {
          verification.startOver();
          onCodeSentAgain(...request);
        }}
      />
    </StepFrame>
  );
}

/** Keeps the full stop on the same line as the address. */
function SentTo({ id, email }: { readonly id: string; readonly email: string }) {
  return (
    <p className={styles.intro} id={id}>
      <span>{beforeEmail}</span>
      <strong className={signAfterEmail && styles.beforeSign} dir="ltr">
        {email}
      </strong>
      <span className={styles.sign}>{signAfterEmail}</span>
      <span>{afterEmail.slice(signAfterEmail.length)}</span>
    </p>
  );
}

function FirstButton(props: ComponentProps<typeof Button>) {
  return <Button ref={useFocusOnMount<HTMLButtonElement>()} {...props} />;
}

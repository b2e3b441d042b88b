// Asks the server about a reloaded code screen, by the challenge cookie. Shows an error if the server cannot be reached, and the
// form if no challenge is open.
import { useMutation } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';

import { verification as words } from '#campaign/interface.yaml';
import { timeNow } from '#shared/clock.ts';
import { fetchOpenChallenge } from '#web/api-client.ts';
import { restoredState, type StageState } from '#web/stage.ts';
import { StepFrame } from '#web/steps/step-frame.tsx';
import { Button } from '#web/ui/button.tsx';
import { NoBreak } from '#web/ui/no-break.tsx';
import { useFocusOnMount } from '#web/ui/use-focus-on-mount.ts';
import styles from '#web/verification/verification-stage.module.css';

type RestoringProps = {
  readonly challengeId: string;
  readonly onRestored: (state: StageState) => void;
  readonly onHome: () => void;
};

export function Restoring({ challengeId, onRestored, onHome }: RestoringProps) {
  const heading = useFocusOnMount<HTMLHeadingElement>();
  // Stays true during another attempt, so the button keeps the focus.
  const [failed, setFailed] = useState(false);
  const lookup = useMutation({ mutationFn: () => fetchOpenChallenge(challengeId) });
  const ask = () => {
    if (lookup.isPending) return;
    lookup.mutate(undefined, {
      onSuccess: (open) => onRestored(restoredState(open, challengeId, timeNow())),
      onError: () => setFailed(true),
    });
  };
  const askFirst = useEffectEvent(ask);
  useEffect(() => askFirst(), []);

  return (
    <StepFrame step="code" labelledBy="verification-title" onHome={onHome}>
      <h1 id="verification-title" ref={heading} tabIndex={-1}>
        <NoBreak text={words.title} />
      </h1>
      <p className={styles.intro} role="status">
        {lookup.isError ? words.notRestored : words.restoring}
      </p>
      {failed && (
        <Button look="primary" className={styles.again} onClick={ask}>
          {words.tryAgain}
        </Button>
      )}
    </StepFrame>
  );
}

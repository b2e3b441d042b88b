import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';

import { toasts as toastWords, verification as words } from '#campaign/interface.yaml';
import { afterCode } from '#campaign/site.yaml';
import { ARTICLE_KEY, failedWith, fetchOpenChallenge, isDeadCode, verifyCode } from '#web/api-client.ts';
import { fill } from '#shared/words.ts';
import { failureToast } from '#web/messages.ts';
import { queryClient } from '#web/query-client.ts';
import type { Challenge, Waiting } from '#web/stage.ts';
import { toasts } from '#web/ui/toast-store.ts';

export function useVerification({
  lead,
  challenge,
  onVerified,
  onOpenAlready,
}: Waiting & { readonly onVerified: () => void; readonly onOpenAlready: () => void }) {
  const [resets, setResets] = useState(0);
  /** Shown at the boxes until the visitor types. */
  const [failure, setFailure] = useState<string | null>(null);
  const failureToastId = useRef('');
  /** A code that could not be checked; it stays in its boxes until the visitor types another one. */
  const [unchecked, setUnchecked] = useState<{ readonly code: string; readonly challengeId: string } | null>(
    null,
  );
  /** True if no code of this challenge is accepted any longer. */
  const [isUsedUp, setUsedUp] = useState(false);

  const verification = useMutation({
    mutationFn: async (code: string) => {
      try {
        const article = await verifyCode({ email: lead.email, code });
        if (article) queryClient.setQueryData(ARTICLE_KEY, article);
        return { type: 'verified' } as const;
      } catch (error) {
        if (failedWith(error, 'wrong-code') && (await isOpenAlready(challenge.id)))
          return { type: 'open already' } as const;
        throw error;
      }
    },
  });

  const onRefused = (error: Error, code: string) => {
    const toast = failureToast(toastWords.verificationFailed, error);
    const isDead = isDeadCode(error);
    // The boxes announce the error of a refused code.
    failureToastId.current = toasts.add(isDead ? { ...toast, spokenThere: true } : toast);
    setFailure(isDead ? (wrongCodeMessage(error, challenge) ?? toast.description) : null);
    if (isDead) setResets((count) => count + 1);
    setUnchecked(isDead ? null : { code, challengeId: challenge.id });
    if (failedWith(error, 'too-many-tries')) setUsedUp(true);
  };
  const forgetUnchecked = () => setUnchecked(null);
  const forgetFailure = () => {
    setFailure(null);
    toasts.dismiss(failureToastId.current);
  };
  return {
    isPending: verification.isPending,
    resets,
    failure,
    unchecked: unchecked?.challengeId === challenge.id ? unchecked.code : null,
    isUsedUp,
    verify: (code: string) => {
      if (verification.isPending) return;
      // Callbacks of the call end with the stage, unlike those of the mutation.
      verification.mutate(code, {
        onSuccess: ({ type }) => {
          if (type === 'open already') return onOpenAlready();
          if (!afterCode) toasts.add(toastWords.verified);
          // First the article, which visitors who come back from `afterCode` find.
          onVerified();
          if (afterCode) location.assign(afterCode);
        },
        onError: onRefused,
      });
    },
    forgetUnchecked,
    forgetFailure,
    /** Call it when another code has been sent. */
    startOver: () => {
      forgetFailure();
      if (unchecked) setResets((count) => count + 1);
      forgetUnchecked();
      setUsedUp(false);
    },
  };
}

function wrongCodeMessage(error: Error, { reference }: Challenge): string | undefined {
  if (reference === null || !failedWith(error, 'wrong-code')) return undefined;
  return words.wrongCode && fill(words.wrongCode, { reference });
}

/**
 * The article can open although the code was refused: another tab has used the code, or it has expired in a browser with a session.
 * If a challenge is open, the code was wrong.
 */
async function isOpenAlready(challengeId: string): Promise<boolean> {
  try {
    const challenge = await fetchOpenChallenge(challengeId);
    if (challenge !== null && !challenge.verified) return false;
    await queryClient.fetchQuery({ queryKey: ARTICLE_KEY, staleTime: 0 });
    return true;
  } catch {
    return false;
  }
}

// Checks a code with the server, and keeps what the verification stage shows of the answer.
import { useMutation, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';

import { toasts as toastWords } from '#campaign/interface.yaml';
import { ARTICLE_KEY, failedWith, fetchOpenChallenge, isDeadCode, verifyCode } from '#web/api-client.ts';
import { failureToast } from '#web/messages.ts';
import type { Waiting } from '#web/stage.ts';
import type { ToastContent } from '#web/ui/toast-state.ts';
import { useToasts } from '#web/ui/toaster.tsx';

type Verification = {
  readonly isPending: boolean;
  /** How many codes were refused. */
  readonly refusals: number;
  /** The sentence about the last code, if it was refused. */
  readonly failure: ToastContent | null;
  /** A code that the server could not check: it stands in the boxes of its challenge until another one is typed. */
  readonly unchecked: string | null;
  readonly verify: (code: string) => void;
  readonly forgetUnchecked: () => void;
  /** Takes the sentence away, and its toast: the visitor has gone on. */
  readonly forgetFailure: () => void;
};

/** Makes {@link Verification} for a challenge. The callbacks are for a visitor who still waits on this stage. */
export function useVerification({
  lead,
  challenge,
  onVerified,
  onOpenAlready,
}: Waiting & { readonly onVerified: () => void; readonly onOpenAlready: () => void }): Verification {
  const toasts = useToasts();
  const queryClient = useQueryClient();
  const [refusals, setRefusals] = useState(0);
  const [failure, setFailure] = useState<ToastContent | null>(null);
  const failureToastId = useRef('');
  const [unchecked, setUnchecked] = useState<{ readonly code: string; readonly of: string } | null>(null);

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

  const onRefused = (error: Error, code: string) => {
    const toast = failureToast(toastWords.verificationFailed, error);
    const isDead = isDeadCode(error);
    // The sentence about a dead code stands under its boxes, and is spoken there.
    failureToastId.current = toasts.add(isDead ? { ...toast, spokenThere: true } : toast);
    setFailure(isDead ? toast : null);
    if (isDead) setRefusals((count) => count + 1);
    setUnchecked(isDead ? null : { code, of: challenge.id });
  };
  return {
    isPending: verification.isPending,
    refusals,
    failure,
    unchecked: unchecked?.of === challenge.id ? unchecked.code : null,
    verify: (code) => {
      if (verification.isPending) return;
      // Callbacks of the call, not of the mutation: they end with the stage.
      verification.mutate(code, {
        onSuccess: ({ type }) => {
          if (type === 'open already') return onOpenAlready();
          toasts.add(toastWords.verified);
          onVerified();
        },
        onError: onRefused,
      });
    },
    forgetUnchecked: () => setUnchecked(null),
    forgetFailure: () => {
      setFailure(null);
      toasts.dismiss(failureToastId.current);
    },
  };
}

/**
 * Whether the article opens though the code was refused: another tab of this browser has used it up, or this browser had
 * access before and its code has expired. A wrong code for a challenge that still waits opens nothing.
 */
async function isOpenAlready(queryClient: QueryClient, challengeId: string): Promise<boolean> {
  try {
    const challenge = await fetchOpenChallenge(challengeId);
    if (challenge !== null && !challenge.verified) return false;
    await queryClient.fetchQuery({ queryKey: ARTICLE_KEY, staleTime: 0 });
    return true;
  } catch {
    return false;
  }
}

// The page at "/": the stage decides which screen is shown.
import { useQueryClient } from '@tanstack/react-query';

import { useEffect } from 'react';

import { content, form, verification } from '#campaign/interface.yaml';
import * as site from '#campaign/site.yaml';
import type { CodeRequested } from '#shared/api.ts';
import type { Lead } from '#shared/lead.ts';
import { fill } from '#shared/words.ts';
import { ContentStage } from '#web/content/content-stage.tsx';
import { FormStage } from '#web/form/form-stage.tsx';
import { useDraft } from '#web/form/use-draft.ts';
import { LandingStage } from '#web/landing/landing.tsx';
import { challengeOf, type StageState } from '#web/stage.ts';
import { useStage } from '#web/use-stage.ts';
import { VerificationStage } from '#web/verification/verification-stage.tsx';

/** What the browser's tab and history call each stage. */
const TITLES = {
  landing: site.pageTitle,
  form: form.pageTitle,
  verification: verification.pageTitle,
  content: content.pageTitle,
} as const;

/** @param initial where the page starts: landing, or what a reload restores */
export function Home({ initial }: { readonly initial: StageState }) {
  const { state, send, hasMoved } = useStage(initial);
  useEffect(() => {
    document.title = fill(TITLES[state.stage], { title: site.title });
  }, [state.stage]);
  // What was typed outlives the form, so that going back and forth loses nothing.
  const draft = useDraft(initial.waiting?.lead);
  const queryClient = useQueryClient();

  const onCodeRequested = (lead: Lead, consentVersion: string, answer: CodeRequested | null) =>
    send({
      type: 'code requested',
      waiting: { lead, challenge: challengeOf(answer, consentVersion, Date.now()) },
    });

  const onHome = () => send({ type: 'history moved', stage: 'landing' });

  switch (state.stage) {
    case 'landing':
      return (
        <LandingStage hasMoved={hasMoved} onCallToAction={() => send({ type: 'call to action pressed' })} />
      );
    case 'form':
      return (
        <FormStage
          draft={draft.draft}
          onDraftChange={draft.change}
          onCodeRequested={onCodeRequested}
          onHome={onHome}
        />
      );
    case 'verification':
      return (
        <VerificationStage
          {...state.waiting}
          onCodeRequested={onCodeRequested}
          onWrongAddress={() => send({ type: 'address to be corrected' })}
          onVerified={() => {
            draft.forget();
            send({ type: 'code verified' });
          }}
          onHome={onHome}
        />
      );
    case 'content':
      return (
        <ContentStage
          onBack={() => {
            draft.clear();
            queryClient.clear();
            send({ type: 'article left' });
          }}
          onStartAgain={() => send({ type: 'call to action pressed' })}
        />
      );
  }
}

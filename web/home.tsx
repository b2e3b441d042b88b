import { useEffect, useRef } from 'react';

import { content, form, verification } from '#campaign/interface.yaml';
import * as site from '#campaign/site.yaml';
import { timeNow } from '#shared/clock.ts';
import type { CodeRequested } from '#shared/api.ts';
import type { LeadForm } from '#shared/lead.ts';
import { fill } from '#shared/words.ts';
import { countStep } from '#web/analytics/steps.ts';
import { FormStage } from '#web/form/form-stage.tsx';
import { useDraft } from '#web/form/use-draft.ts';
import { LandingStage } from '#web/landing/landing.tsx';
import { LaterStage } from '#web/later-stages/later-stage.tsx';
import { queryClient } from '#web/query-client.ts';
import { challengeOf, OPEN_ARTICLE, type StageState, type Waiting } from '#web/stage.ts';
import { useStage } from '#web/use-stage.ts';

const TITLES = {
  landing: site.pageTitle,
  form: form.pageTitle,
  verification: verification.pageTitle,
  content: content.pageTitle,
} as const;

const waitingFor = (lead: LeadForm, consentVersion: string, response: CodeRequested | null): Waiting => ({
  lead,
  challenge: challengeOf(response, consentVersion, timeNow()),
});

export function Home({ initial }: { readonly initial: StageState }) {
  const { state, send, hasMoved } = useStage(initial);
  useEffect(() => {
    document.title = fill(TITLES[state.stage], { title: site.title });
  }, [state.stage]);
  const draft = useDraft();
  const correctsEmail = useRef(false);

  const onRestored = (restored: StageState) => {
    if (restored.waiting !== null) draft.restore(restored.waiting.lead);
    else if (restored.stage === 'content') draft.forget();
    send({ type: 'restored', state: restored });
  };
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
          onCodeRequested={(...request) => {
            countStep('asked');
            send({ type: 'code requested', waiting: waitingFor(...request) });
          }}
          onHome={onHome}
          correctsEmail={() => {
            const corrects = correctsEmail.current;
            correctsEmail.current = false;
            return corrects;
          }}
        />
      );
    case 'verification':
      return (
        <LaterStage onHome={onHome}>
          {({ Restoring, VerificationStage }) =>
            state.waiting === null ? (
              <Restoring
                key={state.challengeId}
                challengeId={state.challengeId}
                onRestored={onRestored}
                onHome={onHome}
              />
            ) : (
              <VerificationStage
                {...state.waiting}
                onCodeSentAgain={(...request) =>
                  send({ type: 'code sent again', waiting: waitingFor(...request) })
                }
                onWrongEmail={() => {
                  correctsEmail.current = true;
                  send({ type: 'email to be corrected' });
                }}
                onVerified={() => {
                  countStep('entered');
                  draft.forget();
                  send({ type: 'code verified' });
                }}
                onOpenAlready={() => onRestored(OPEN_ARTICLE)}
                onHome={onHome}
              />
            )
          }
        </LaterStage>
      );
    case 'content':
      return (
        <LaterStage onHome={onHome}>
          {({ ContentStage }) => (
            <ContentStage
              justVerified={state.justVerified}
              onBack={() => {
                draft.clear();
                queryClient.clear();
                send({ type: 'article left' });
              }}
              onStartAgain={() => send({ type: 'call to action pressed' })}
            />
          )}
        </LaterStage>
      );
  }
}

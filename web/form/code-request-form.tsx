import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState, type SubmitEvent } from 'react';

import * as consent from '#campaign/consent.yaml';
import { news } from '#campaign/consent.yaml';
import { asksMore } from '#campaign/form.yaml';
import { form as words, toasts as toastWords, validation } from '#campaign/interface.yaml';
import type { CodeRequested } from '#shared/api.ts';
import { HONEYPOT_FIELD, LeadForm } from '#shared/lead.ts';
import { strayCharacter, tidyEmail } from '#shared/typed-input.ts';
import { fill } from '#shared/words.ts';
import { variant } from '#campaign/site.yaml';
import { requestCode, type FormError } from '#web/api-client.ts';
import { ownVariant } from '#web/variant.ts';
import styles from '#web/form/form-stage.module.css';
import { ConsentWithLinks } from '#web/form/consent-with-links.tsx';
import { suggestEmail } from '#web/form/email-suggestion.ts';
import { checkDraft, type LeadDraft, type LeadErrors, type LeadField } from '#web/form/lead-draft.ts';
import { OwnFields } from '#web/form/own-fields.tsx';
import { ownLead } from '#web/form/own-form.ts';
import { failureToast } from '#web/messages.ts';
import { Button } from '#web/ui/button.tsx';
import { CheckboxField, TextField } from '#web/ui/field.tsx';
import { toasts } from '#web/ui/toast-store.ts';

export type CodeRequestFormProps = {
  readonly draft: LeadDraft;
  readonly onDraftChange: (draft: LeadDraft) => void;
  /** Called with null if a successful response is unreadable. */
  readonly onCodeRequested: (lead: LeadForm, consentVersion: string, response: CodeRequested | null) => void;
};

export function CodeRequestForm({ draft, onDraftChange, onCodeRequested }: CodeRequestFormProps) {
  const [attempted, setAttempted] = useState(false);
  const trap = useRef<HTMLInputElement>(null);
  const [suggestion, setSuggestion] = useState<string | null>(null);

  const submission = useSubmission(onCodeRequested);
  const { refusal, refused } = submission;
  const sendButton = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!refusal || !isFocusFree()) return;
    const field = sendButton.current?.form?.querySelector<HTMLElement>('[aria-invalid=true]');
    (field ?? sendButton.current)?.focus();
  }, [refusal]);

  // A build-time condition, so the bundle contains no code for custom questions or a news box that the campaign lacks.
  const check = checkDraft(asksMore || news ? ownLead : LeadForm, draft, validation);
  const errors: LeadErrors = attempted
    ? {
        // The server's error about a field that still has the value that was sent.
        ...(refusal?.field &&
          refusal.body &&
          refusal.field in draft &&
          refused?.[refusal.field] === draft[refusal.field] && { [refusal.field]: refusal.body }),
        ...(check.type === 'errors' && check.errors),
      }
    : {};

  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    setAttempted(true);
    if (check.type === 'lead') {
      submission.send(check.lead, trap.current?.value ?? '', draft);
      return;
    }
    const { errors: mistakes } = check;
    const inputs = [...event.currentTarget.querySelectorAll<HTMLInputElement>('[name]')];
    inputs.find(({ name }) => mistakes[name] !== undefined)?.focus();
  };

  const change = (field: LeadField, value: string | boolean) => {
    onDraftChange({ ...draft, [field]: value });
    if (field === 'email') setSuggestion(null);
  };

  const textField = (field: Exclude<LeadField, 'consent'>) => ({
    name: field,
    value: draft[field],
    error: errors[field],
    onChange: (event: { readonly currentTarget: HTMLInputElement }) =>
      change(field, event.currentTarget.value),
    required: true,
    enterKeyHint: field === 'email' && !asksMore ? ('send' as const) : ('next' as const),
  });

  return (
    <form className={styles.form} noValidate onSubmit={submit}>
      <TextField
        label={words.name}
        autoComplete="name"
        autoCapitalize="words"
        dir="auto"
        {...textField('name')}
      />
      <TextField
        label={words.company}
        autoComplete="organization"
        autoCapitalize="words"
        dir="auto"
        {...textField('company')}
      />
      <TextField
        label={words.email}
        // Not type="email": some engines refuse international domains there, others rewrite them.
        type="text"
        inputMode="email"
        dir="ltr"
        autoComplete="email"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        {...textField('email')}
        onBlur={() => setSuggestion(suggestEmail(tidyEmail(draft.email)))}
      >
        {errors.email === undefined && (
          <EmailSuggestion suggestion={suggestion} onAccept={(address) => change('email', address)} />
        )}
      </TextField>
      {/* Not for other errors, such as the server's about this address. */}
      {errors.email === validation.email && <StrayCharacter typed={draft.email} />}
      {asksMore && (
        <OwnFields
          answers={draft.answers ?? {}}
          errors={errors}
          onChange={(answers) => onDraftChange({ ...draft, answers })}
        />
      )}
      <CheckboxField
        name="consent"
        label={consent.isLinked ? <ConsentWithLinks parts={consent.parts} /> : consent.text}
        checked={draft.consent}
        error={errors.consent}
        onChange={(event) => change('consent', event.currentTarget.checked)}
        required
      />
      {news && (
        <CheckboxField
          name="newsConsentVersion"
          label={news.isLinked ? <ConsentWithLinks parts={news.parts} /> : news.text}
          checked={draft.newsConsentVersion === news.version}
          error={errors.newsConsentVersion}
          onChange={(event) => {
            const newsConsentVersion = event.currentTarget.checked ? news!.version : undefined;
            onDraftChange({ ...draft, newsConsentVersion });
          }}
        />
      )}
      <div className={styles.trap} aria-hidden>
        <label>
          {words.leaveEmpty}
          <input ref={trap} name={HONEYPOT_FIELD} type="url" tabIndex={-1} autoComplete="off" />
        </label>
      </div>
      <Button ref={sendButton} look="primary" type="submit" disabled={submission.isPending}>
        <span>{submission.isPending ? words.sending : words.send}</span>
      </Button>
    </form>
  );
}

type Submission = { readonly lead: LeadForm; readonly trapped: string; readonly draft: LeadDraft };

/** Callbacks belong to the call, not to the mutation, so a visitor who has left the form sees no response. */
function useSubmission(onCodeRequested: CodeRequestFormProps['onCodeRequested']) {
  const submission = useMutation<CodeRequested | null, FormError, Submission>({
    mutationFn: ({ lead, trapped }) =>
      requestCode(lead, consent.version, {
        ...(trapped ? { [HONEYPOT_FIELD]: trapped } : {}),
        ...(variant ? ownVariant() : {}),
      }),
  });
  return {
    isPending: submission.isPending,
    refusal: submission.error,
    refused: submission.variables?.draft,
    send: (lead: LeadForm, trapped: string, draft: LeadDraft) => {
      if (submission.isPending) return;
      submission.mutate(
        { lead, trapped, draft },
        {
          onSuccess: (response) => {
            toasts.add(toastWords.codeSent);
            onCodeRequested(lead, consent.version, response);
          },
          onError: (error) => {
            // A refused field that gets the focus announces its error.
            const spokenThere = (error.field ?? '') in draft && isFocusFree();
            toasts.add({ ...failureToast(toastWords.submissionFailed, error), spokenThere });
          },
        },
      );
    },
  };
}

/** A disabled button loses the focus, sometimes a moment later. */
const isFocusFree = () => document.activeElement?.matches('body,[type=submit]') ?? true;

function StrayCharacter({ typed }: { readonly typed: string }) {
  const character = strayCharacter(typed);
  return (
    character !== null && (
      <p className={styles.stray} role="status">
        {fill(words.strayCharacter, { character })}
      </p>
    )
  );
}

function EmailSuggestion({
  suggestion,
  onAccept,
}: {
  readonly suggestion: string | null;
  readonly onAccept: (address: string) => void;
}) {
  return (
    <div className={styles.suggestion} aria-live="polite">
      {suggestion !== null && (
        <Button
          look="text"
          onClick={({ currentTarget }) => {
            onAccept(suggestion);
            currentTarget.form?.querySelector<HTMLInputElement>('[name=email]')?.focus();
          }}
        >
          {fill(words.suggestion, { address: suggestion })}
        </Button>
      )}
    </div>
  );
}

// The form stage: three fields, a consent and one button (specification, sections 2, 4 and 5).
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState, type SubmitEvent } from 'react';

import * as consent from '#campaign/consent.yaml';
import { form as words, toasts as toastWords, validation } from '#campaign/interface.yaml';
import type { CodeRequested } from '#shared/api.ts';
import { HONEYPOT_FIELD, type Lead } from '#shared/lead.ts';
import { fill } from '#shared/words.ts';
import { requestCode } from '#web/api-client.ts';
import { SiteFooter } from '#web/frame/site-footer.tsx';
import { SiteHeader } from '#web/frame/site-header.tsx';
import styles from '#web/form/form-stage.module.css';
import { suggestEmail } from '#web/form/email-suggestion.ts';
import {
  checkDraft,
  firstInvalidField,
  type LeadDraft,
  type LeadErrors,
  type LeadField,
} from '#web/form/lead-form.ts';
import { PromiseAside, PromiseLine } from '#web/form/promise-beside-form.tsx';
import { tell } from '#web/funnel.ts';
import { failureToast } from '#web/messages.ts';
import { Button } from '#web/ui/button.tsx';
import { CheckboxField, TextField } from '#web/ui/field.tsx';
import { useFocusOnMount } from '#web/ui/use-focus-on-mount.ts';
import { useToasts } from '#web/ui/toaster.tsx';

/** Specification, section 9. */
const SCROLL_DELAY_MS = 100;

type FormStageProps = {
  /** What stands in the form. */
  readonly draft: LeadDraft;
  readonly onDraftChange: (draft: LeadDraft) => void;
  readonly onCodeRequested: (lead: Lead, consentVersion: string, answer: CodeRequested | null) => void;
  readonly onHome: () => void;
  /** Whether the visitor came to correct the address: the focus then goes there. Asked once, on arrival. */
  readonly correctsAddress: () => boolean;
};

/** The form stage. */
export function FormStage({
  draft,
  onDraftChange,
  onCodeRequested,
  onHome,
  correctsAddress,
}: FormStageProps) {
  const section = useRef<HTMLElement>(null);
  const heading = useFocusOnMount<HTMLHeadingElement>();

  useEffect(() => {
    tell('opened');
    const email = correctsAddress() ? section.current?.querySelector<HTMLInputElement>('[name=email]') : null;
    email?.focus({ preventScroll: true });
    // What a script asks for is not slowed by styles; whoever wants less motion is taken there at once.
    const behavior = matchMedia('(prefers-reduced-motion:reduce)').matches ? 'instant' : 'smooth';
    const timer = setTimeout(() => {
      if (email) email.scrollIntoView({ behavior, block: 'center' });
      else section.current?.scrollIntoView({ behavior });
    }, SCROLL_DELAY_MS);
    return () => clearTimeout(timer);
    // Only on arrival.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, []);

  return (
    <>
      <SiteHeader onHome={onHome} />
      <main className={styles.main}>
        <section ref={section} className={styles.section} aria-labelledby="form-title">
          <h1 id="form-title" ref={heading} tabIndex={-1}>
            {words.title}
          </h1>
          <PromiseLine />
          <p className={styles.intro}>{words.intro}</p>
          <LeadForm draft={draft} onDraftChange={onDraftChange} onCodeRequested={onCodeRequested} />
        </section>
        <PromiseAside />
      </main>
      <SiteFooter />
    </>
  );
}

function LeadForm({
  draft,
  onDraftChange,
  onCodeRequested,
}: Omit<FormStageProps, 'onHome' | 'correctsAddress'>) {
  const toasts = useToasts();
  // Complaints wait for the first attempt to send; from then on they follow the typing.
  const [attempted, setAttempted] = useState(false);
  const trap = useRef<HTMLInputElement>(null);
  const [suggestion, setSuggestion] = useState<string | null>(null);

  const submission = useMutation({
    mutationFn: (lead: Lead) => {
      const trapped = trap.current?.value;
      return requestCode(lead, consent.version, trapped ? { [HONEYPOT_FIELD]: trapped } : {});
    },
  });

  // While it sends, the button is disabled and so loses the focus it was pressed with.
  const sendButton = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (submission.isError && document.activeElement === document.body) sendButton.current?.focus();
  }, [submission.isError]);

  /** The answer finds whoever still waits for it here: told at the call, and not at the mutation, it ends with the form. */
  const send = (lead: Lead) =>
    submission.mutate(lead, {
      onSuccess: (answer) => {
        toasts.add(toastWords.codeSent);
        onCodeRequested(lead, consent.version, answer);
      },
      onError: (error) => {
        toasts.add(failureToast(toastWords.submissionFailed, error));
      },
    });

  const check = checkDraft(draft, validation);
  const errors: LeadErrors = attempted && check.type === 'errors' ? check.errors : {};

  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    setAttempted(true);
    if (check.type === 'lead') {
      if (!submission.isPending) send(check.lead);
      return;
    }
    const invalid = event.currentTarget.elements.namedItem(firstInvalidField(check.errors) ?? '');
    if (invalid instanceof HTMLInputElement) invalid.focus();
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
    // The last field's key sends; the others' go on.
    enterKeyHint: field === 'email' ? ('send' as const) : ('next' as const),
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
        // Not type="email": some engines refuse international domains there, others hand them on rewritten.
        type="text"
        inputMode="email"
        autoComplete="email"
        autoCapitalize="none"
        spellCheck={false}
        {...textField('email')}
        onBlur={() => setSuggestion(suggestEmail(draft.email))}
      >
        {errors.email === undefined && (
          <div className={styles.suggestion} aria-live="polite">
            {suggestion !== null && (
              <Button
                look="text"
                onClick={({ currentTarget }) => {
                  change('email', suggestion);
                  // The button goes.
                  currentTarget.form?.querySelector<HTMLInputElement>('[name=email]')?.focus();
                }}
              >
                {fill(words.suggestion, { address: suggestion })}
              </Button>
            )}
          </div>
        )}
      </TextField>
      <CheckboxField
        name="consent"
        label={consent.text}
        checked={draft.consent}
        error={errors.consent}
        onChange={(event) => change('consent', event.currentTarget.checked)}
        required
      />
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

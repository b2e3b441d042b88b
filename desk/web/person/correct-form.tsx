// Corrects a person's answers. Under each field stands what is kept now, once it is different.
import { useState } from 'react';

import { correct, type Story } from '#desk/calls/people.ts';
import { CHANGED_BY_A_PERSON } from '#desk/web/person/changed-calls.ts';
import { changesIn, draftOf, questionsFor, type CorrectDraft } from '#desk/web/person/correct-draft.ts';
import styles from '#desk/web/person/form.module.css';
import { ChangeForm } from '#desk/web/person/form.tsx';
import { usePerson } from '#desk/web/person.ts';
import { useSend } from '#desk/web/queries.ts';
import { LongTextField } from '#desk/web/ui/long-text-field.tsx';
import { personPage } from '#desk/web/words.ts';
import { TextField } from '#web/ui/field.tsx';

const words = personPage.correct;
/** A text that is longer, or has lines, gets a field of several lines. */
const LINE_LENGTH = 80;

export function CorrectForm({
  person,
  onDone,
  onCancel,
}: {
  readonly person: Story['person'];
  readonly onDone: (sentence: string) => void;
  readonly onCancel: () => void;
}) {
  const { fields } = usePerson();
  const questions = questionsFor(person, fields);
  const before = draftOf(person, questions);
  const [draft, setDraft] = useState<CorrectDraft>(before);
  const send = useSend(correct, CHANGED_BY_A_PERSON);
  const changes = changesIn(before, draft);
  const now = (held: string, typed: string) =>
    held.trim() === typed.trim() ? null : <p className={styles.now}>{words.now(held)}</p>;

  return (
    <ChangeForm
      confirm={words.save}
      error={send.error}
      isReady={changes !== null}
      isSending={send.isPending}
      onCancel={onCancel}
      onSend={() => {
        if (changes !== null)
          send.mutate({ id: person.id, ...changes }, { onSuccess: () => onDone(words.done) });
      }}
    >
      <p className={styles.quiet}>{words.about}</p>
      {(['name', 'company'] as const).map((field) => (
        <TextField
          key={field}
          label={words[field]}
          value={draft[field]}
          onChange={({ target }) => setDraft({ ...draft, [field]: target.value })}
          autoComplete="off"
        >
          {now(before[field], draft[field])}
        </TextField>
      ))}
      {questions.map(({ id, label, isAsked }) => {
        const held = before.answers[id] ?? '';
        const value = draft.answers[id] ?? '';
        const Field = held.length > LINE_LENGTH || held.includes('\n') ? LongTextField : TextField;
        return (
          <Field
            key={id}
            label={label}
            value={value}
            onChange={({ target }: { readonly target: { readonly value: string } }) =>
              setDraft({ ...draft, answers: { ...draft.answers, [id]: target.value } })
            }
            autoComplete="off"
          >
            {now(held, value)}
            {!isAsked && <p className={styles.quiet}>{words.notAsked}</p>}
          </Field>
        );
      })}
      {questions.length > 0 && <p className={styles.quiet}>{words.takeAway}</p>}
    </ChangeForm>
  );
}

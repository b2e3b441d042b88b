import { useState, type ChangeEvent } from 'react';

import { correct } from '#desk/endpoints/people.ts';
import { STALE_AFTER_CHANGE, type ChangeProps } from '#desk/web/person/changes.tsx';
import { changesIn, draftOf, questionsFor, type CorrectDraft } from '#desk/web/person/correct-draft.ts';
import { useDeskUser, useDeskMutation } from '#desk/web/queries.ts';
import { Dialog, DialogForm } from '#desk/web/ui/dialog.tsx';
import { AreaField, ChoicesField, Field, optionsOf, SelectField } from '#desk/web/ui/fields.tsx';
import { displayedAnswer, splitChoices } from '#shared/own-fields.ts';

const LINE_LENGTH = 80;

export function Correct({ person, onClose, onDone }: ChangeProps) {
  const { fields } = useDeskUser();
  // Kept from when the dialog opened, because later data may differ.
  const [{ questions, before }] = useState(() => {
    const asked = questionsFor(person, fields);
    return { questions: asked, before: draftOf(person, asked) };
  });
  const [draft, setDraft] = useState<CorrectDraft>(before);
  const send = useDeskMutation(correct, STALE_AFTER_CHANGE);
  const changes = changesIn(before, draft);
  return (
    <Dialog
      onClose={() => !send.isPending && onClose()}
      title="Correct the answers"
      text="The timeline keeps the previous answers."
      hasDraft={changes !== null}
    >
      <DialogForm
        action="Save"
        isReady={changes !== null}
        mutation={send}
        input={{ id: person.id, ...changes }}
        onDone={() => onDone('The answers were corrected.')}
      >
        {(
          [
            ['name', 'Full name'],
            ['company', 'Company'],
          ] as const
        ).map(([field, label]) => (
          <AnswerField
            key={field}
            label={label}
            stored={before[field]}
            typed={draft[field]}
            onType={(text) => setDraft({ ...draft, [field]: text })}
          />
        ))}
        {questions.map(({ id, label, isAsked, options, areSeveral }) => (
          <AnswerField
            key={id}
            label={isAsked ? label : `${label} (no longer asked)`}
            options={options}
            areSeveral={areSeveral}
            stored={before.answers[id] ?? ''}
            typed={draft.answers[id] ?? ''}
            onType={(text) => setDraft({ ...draft, answers: { ...draft.answers, [id]: text } })}
          />
        ))}
        {questions.length > 0 && <p className="quiet small">Leave an answer empty to remove it.</p>}
      </DialogForm>
    </Dialog>
  );
}

type AnswerFieldProps = {
  readonly label: string;
  /** Null for free text. */
  readonly options?: readonly string[] | null;
  readonly areSeveral?: boolean;
  readonly stored: string;
  readonly typed: string;
  readonly onType: (text: string) => void;
};

function AnswerField({ label, options = null, areSeveral, stored, typed, onType }: AnswerFieldProps) {
  if (options !== null && areSeveral)
    return (
      <ChoicesField
        label={label}
        options={[...new Set([...options, ...splitChoices(stored)])]}
        chosen={splitChoices(typed)}
        onChange={(chosen) => onType(displayedAnswer(chosen))}
      />
    );
  const props = {
    label,
    value: typed,
    onChange: ({ target }: ChangeEvent<{ readonly value: string } & Element>) => onType(target.value),
    autoComplete: 'off',
  };
  if (options !== null)
    return <SelectField {...props} options={optionsOf('No answer', options, stored || undefined)} />;
  return stored.length > LINE_LENGTH || stored.includes('\n') ? (
    <AreaField {...props} />
  ) : (
    <Field {...props} />
  );
}

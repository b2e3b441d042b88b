import { useState, type ChangeEvent } from 'react';

import { correct } from '#desk/endpoints/people.ts';
import { CHANGED_BY_A_PERSON, type ChangeProps } from '#desk/web/person/changes.tsx';
import { changesIn, draftOf, questionsFor, type CorrectDraft } from '#desk/web/person/correct-draft.ts';
import { usePerson, useSend } from '#desk/web/queries.ts';
import { Dialog, DialogForm } from '#desk/web/ui/dialog.tsx';
import { AreaField, ChoicesField, Field, optionsOf, SelectField } from '#desk/web/ui/fields.tsx';
import { displayedAnswer, splitChoices } from '#shared/own-fields.ts';

const LINE_LENGTH = 80;

export function Correct({ person, onClose, onDone }: ChangeProps) {
  const { fields } = usePerson();
  // Values at opening, because they may change later.
  const [{ questions, before }] = useState(() => {
    const asked = questionsFor(person, fields);
    return { questions: asked, before: draftOf(person, asked) };
  });
  const [draft, setDraft] = useState<CorrectDraft>(before);
  const send = useSend(correct, CHANGED_BY_A_PERSON);
  const changes = changesIn(before, draft);
  return (
    <Dialog
      onClose={() => !send.isPending && onClose()}
      title="Correct the answers"
      text="The timeline keeps the previous answers."
    >
      <DialogForm
        action="Save"
        isReady={changes !== null}
        send={send}
        asked={{ id: person.id, ...changes }}
        onDone={() => onDone('The answers were corrected.')}
      >
        {(
          [
            ['name', 'Full name'],
            ['company', 'Company'],
          ] as const
        ).map(([field, label]) => (
          <Corrected
            key={field}
            label={label}
            held={before[field]}
            typed={draft[field]}
            onType={(text) => setDraft({ ...draft, [field]: text })}
          />
        ))}
        {questions.map(({ id, label, isAsked, options, areSeveral }) => (
          <Corrected
            key={id}
            label={isAsked ? label : `${label} (no longer asked)`}
            options={options}
            areSeveral={areSeveral}
            held={before.answers[id] ?? ''}
            typed={draft.answers[id] ?? ''}
            onType={(text) => setDraft({ ...draft, answers: { ...draft.answers, [id]: text } })}
          />
        ))}
        {questions.length > 0 && <p className="quiet small">Leave an answer empty to remove it.</p>}
      </DialogForm>
    </Dialog>
  );
}

type CorrectedProps = {
  readonly label: string;
  /** Null for free text. */
  readonly options?: readonly string[] | null;
  readonly areSeveral?: boolean;
  readonly held: string;
  readonly typed: string;
  readonly onType: (text: string) => void;
};

function Corrected({ label, options = null, areSeveral, held, typed, onType }: CorrectedProps) {
  if (options !== null && areSeveral)
    return (
      <ChoicesField
        label={label}
        options={[...new Set([...options, ...splitChoices(held)])]}
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
    return <SelectField {...props} options={optionsOf('No answer', options, held || undefined)} />;
  return held.length > LINE_LENGTH || held.includes('\n') ? <AreaField {...props} /> : <Field {...props} />;
}

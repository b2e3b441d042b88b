import { useId, useState } from 'react';

import type { Asked } from '#desk/endpoints/endpoint.ts';
import { erase, sendGuide, suppress, unsuppress, type Person } from '#desk/endpoints/people.ts';
import { CHANGED_BY_AN_ERASURE, CHANGED_BY_A_PERSON } from '#desk/web/person/changed-calls.ts';
import styles from '#desk/web/person/changes.module.css';
import { useSend } from '#desk/web/queries.ts';
import { Confirm } from '#desk/web/ui/confirm.tsx';
import { Field } from '#desk/web/ui/fields.tsx';
import { personPage } from '#desk/web/words.ts';
import { normaliseEmail } from '#shared/lead.ts';

export type ChangeProps = {
  readonly person: Person;
  readonly onClose: () => void;
  readonly onDone: (sentence: string) => void;
};

/** Characters. */
const NOTE_LENGTH = 500;

export function SendGuide({ person: { id, email }, onClose, onDone }: ChangeProps) {
  const words = personPage.sendGuide;
  const { mutate, isPending, error } = useSend(sendGuide, CHANGED_BY_A_PERSON);
  return (
    <Confirm
      open
      onOpenChange={onClose}
      title={words.title(email)}
      text={words.text}
      action={words.action}
      isBusy={isPending}
      error={error}
      onConfirm={() => mutate({ id }, { onSuccess: () => onDone(words.done) })}
    />
  );
}

type Reason = Asked<typeof suppress>['reason'];
const REASONS = ['by-hand', 'unsubscribed', 'complained', 'bounced'] as const satisfies readonly Reason[];

export function StopMail({ person: { id, email }, onClose, onDone }: ChangeProps) {
  const words = personPage.suppress;
  const fields = useId();
  const [reason, setReason] = useState<Reason>('by-hand');
  const [note, setNote] = useState('');
  const { mutate, isPending, error } = useSend(suppress, CHANGED_BY_A_PERSON);
  return (
    <Confirm
      open
      onOpenChange={onClose}
      title={words.title(email)}
      text={words.text}
      action={words.action}
      isBusy={isPending}
      error={error}
      onConfirm={() =>
        mutate(
          { id, reason, ...(note.trim() !== '' && { note: note.trim() }) },
          { onSuccess: () => onDone(words.done) },
        )
      }
    >
      <fieldset className={styles.reasons}>
        <legend>{words.reason}</legend>
        {REASONS.map((one) => (
          <div key={one} className={styles.reason}>
            <input
              id={`${fields}-${one}`}
              type="radio"
              name="reason"
              value={one}
              checked={reason === one}
              onChange={() => setReason(one)}
            />
            <label htmlFor={`${fields}-${one}`}>
              <strong>{words.reasons[one]}</strong>
              <span>{words.means[one]}</span>
            </label>
          </div>
        ))}
      </fieldset>
      <Field
        label={words.note}
        value={note}
        maxLength={NOTE_LENGTH}
        onChange={({ target }) => setNote(target.value)}
        autoComplete="off"
      />
    </Confirm>
  );
}

export function MailAgain({ person: { id, email }, onClose, onDone }: ChangeProps) {
  const words = personPage.unsuppress;
  const [reason, setReason] = useState('');
  const { mutate, isPending, error } = useSend(unsuppress, CHANGED_BY_A_PERSON);
  return (
    <Confirm
      open
      onOpenChange={onClose}
      title={words.title(email)}
      text={words.text}
      action={words.action}
      isReady={reason.trim() !== ''}
      isBusy={isPending}
      error={error}
      onConfirm={() =>
        mutate(
          { id, reason: reason.trim() },
          { onSuccess: ({ staysStopped }) => onDone(words.done(staysStopped)) },
        )
      }
    >
      <Field
        label={words.reason}
        value={reason}
        maxLength={NOTE_LENGTH}
        onChange={({ target }) => setReason(target.value)}
        autoComplete="off"
      />
    </Confirm>
  );
}

/** Asks for the e-mail address again, because erasure is final. */
export function Erase({ person: { id, email }, onClose, onDone }: ChangeProps) {
  const words = personPage.erase;
  const [typed, setTyped] = useState('');
  const [hasLeft, setHasLeft] = useState(false);
  const { mutate, isPending, error } = useSend(erase, CHANGED_BY_AN_ERASURE);
  const isSame = normaliseEmail(typed) === normaliseEmail(email);
  return (
    <Confirm
      open
      onOpenChange={onClose}
      title={words.title(email)}
      text={
        <span className={styles.text}>
          <span>{words.text}</span>
          <span>{words.elsewhere}</span>
        </span>
      }
      action={words.action}
      isDanger
      isReady={isSame}
      isBusy={isPending}
      error={error}
      onConfirm={() => mutate({ id, email: typed.trim() }, { onSuccess: ({ erased }) => onDone(erased) })}
    >
      <Field
        label={words.label(email)}
        type="email"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={() => setHasLeft(typed !== '')}
        error={hasLeft && typed !== '' && !isSame ? words.differs : undefined}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
      />
    </Confirm>
  );
}

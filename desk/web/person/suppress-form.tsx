// Puts an address on the list of those that get no mail, and takes it off again where that was a slip.
import { useState } from 'react';

import { suppress, unsuppress, type Story } from '#desk/calls/people.ts';
import type { Asked } from '#desk/calls/call.ts';
import { CHANGED_BY_A_PERSON } from '#desk/web/person/changed-calls.ts';
import styles from '#desk/web/person/form.module.css';
import { ChangeForm } from '#desk/web/person/form.tsx';
import { useSend } from '#desk/web/queries.ts';
import { personPage } from '#desk/web/words.ts';
import { TextField } from '#web/ui/field.tsx';

type Reason = Asked<typeof suppress>['reason'];
const REASONS = ['by-hand', 'unsubscribed', 'complained', 'bounced'] as const satisfies readonly Reason[];
const NOTE_LENGTH = 500;

type FormProps = {
  readonly person: Story['person'];
  readonly onDone: (sentence: string) => void;
  readonly onCancel: () => void;
};

export function SuppressForm({ person: { id }, onDone, onCancel }: FormProps) {
  const words = personPage.suppress;
  const [reason, setReason] = useState<Reason>('by-hand');
  const [note, setNote] = useState('');
  const send = useSend(suppress, CHANGED_BY_A_PERSON);
  return (
    <ChangeForm
      confirm={words.confirm}
      error={send.error}
      isSending={send.isPending}
      onCancel={onCancel}
      onSend={() =>
        send.mutate(
          { id, reason, ...(note.trim() !== '' && { note: note.trim() }) },
          { onSuccess: () => onDone(words.done) },
        )
      }
    >
      <p>{words.about}</p>
      <fieldset className={styles.reasons}>
        <legend>{words.reason}</legend>
        {REASONS.map((one) => (
          <label key={one} className={styles.reason}>
            <input
              type="radio"
              name="reason"
              value={one}
              checked={reason === one}
              onChange={() => setReason(one)}
            />
            <span>
              <strong>{words.reasons[one]}</strong>
              <span className={styles.quiet}>{words.means[one]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <TextField
        label={words.note}
        value={note}
        maxLength={NOTE_LENGTH}
        onChange={({ target }) => setNote(target.value)}
        autoComplete="off"
      >
        <p className={styles.quiet}>{words.noteHint}</p>
      </TextField>
    </ChangeForm>
  );
}

export function UnsuppressForm({ person: { id }, onDone, onCancel }: FormProps) {
  const words = personPage.unsuppress;
  const [reason, setReason] = useState('');
  const send = useSend(unsuppress, CHANGED_BY_A_PERSON);
  return (
    <ChangeForm
      confirm={words.confirm}
      error={send.error}
      isReady={reason.trim() !== ''}
      isSending={send.isPending}
      onCancel={onCancel}
      onSend={() => send.mutate({ id, reason: reason.trim() }, { onSuccess: () => onDone(words.done) })}
    >
      <p>{words.about}</p>
      <TextField
        label={words.reason}
        value={reason}
        maxLength={NOTE_LENGTH}
        onChange={({ target }) => setReason(target.value)}
        autoComplete="off"
      />
    </ChangeForm>
  );
}

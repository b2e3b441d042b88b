// Erases a person. It cannot be undone, so the address is typed again before.
import { useState } from 'react';

import { erase, type Story } from '#desk/calls/people.ts';
import { CHANGED_BY_AN_ERASURE } from '#desk/web/person/changed-calls.ts';
import styles from '#desk/web/person/form.module.css';
import { ChangeForm } from '#desk/web/person/form.tsx';
import { useSend } from '#desk/web/queries.ts';
import { personPage } from '#desk/web/words.ts';
import { normaliseEmail } from '#shared/lead.ts';
import { TextField } from '#web/ui/field.tsx';

const words = personPage.erase;

export function EraseForm({
  person: { id, email },
  onDone,
  onCancel,
}: {
  readonly person: Story['person'];
  readonly onDone: (sentence: string) => void;
  readonly onCancel: () => void;
}) {
  const [typed, setTyped] = useState('');
  const [hasLeft, setHasLeft] = useState(false);
  const send = useSend(erase, CHANGED_BY_AN_ERASURE);
  const isSame = normaliseEmail(typed) === normaliseEmail(email);
  return (
    <ChangeForm
      confirm={words.confirm}
      error={send.error}
      isDangerous
      isReady={isSame}
      isSending={send.isPending}
      onCancel={onCancel}
      onSend={() =>
        send.mutate({ id, email: typed.trim() }, { onSuccess: ({ erased }) => onDone(words.done(email, erased)) })
      }
    >
      <div className={styles.about}>
        <p>{words.about}</p>
        <p>{words.elsewhere}</p>
      </div>
      <TextField
        label={words.label(email)}
        type="email"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={() => setHasLeft(typed !== '')}
        error={hasLeft && !isSame && typed !== '' ? words.differs : undefined}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
      />
    </ChangeForm>
  );
}

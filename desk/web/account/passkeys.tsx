import { useState } from 'react';

import { log } from '#desk/endpoints/auth.ts';
import { passkeys, removePasskey, type Passkey } from '#desk/endpoints/passkeys.ts';
import { browserName } from '#desk/web/account/browser-name.ts';
import { canUsePasskeys } from '#desk/web/passkeys/passkeys.ts';
import { useAddPasskey } from '#desk/web/passkeys/use-passkeys.ts';
import { useDeskQuery, useDeskMutation } from '#desk/web/queries.ts';
import { QueryResult } from '#desk/web/ui/states.tsx';
import { Button } from '#desk/web/ui/button.tsx';
import { Confirm, Dialog, DialogForm } from '#desk/web/ui/dialog.tsx';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { Field } from '#desk/web/ui/fields.tsx';
import { useNotice } from '#desk/web/ui/notice.tsx';
import { Section } from '#desk/web/ui/page.tsx';
import { Table, type Column } from '#desk/web/ui/table.tsx';

/** In characters. */
const NAME_LENGTH = 100;

const columnsFor = (onRemove: (passkey: Passkey) => void): readonly Column<Passkey>[] => [
  { heading: 'Passkey', isMain: true, cell: ({ name }) => name },
  { heading: 'Added', cell: ({ addedAt }) => <DateTime at={addedAt} /> },
  {
    heading: 'Last used',
    cell: ({ usedAt }) => (usedAt === null ? 'Not yet' : <DateTime at={usedAt} />),
  },
  {
    heading: 'Remove',
    isAction: true,
    cell: (passkey) => (
      <Button look="text" aria-label={`Remove the passkey ${passkey.name}`} onClick={() => onRemove(passkey)}>
        Remove
      </Button>
    ),
  },
];

export function Passkeys() {
  const result = useDeskQuery(passkeys, {});
  const [isAdding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Passkey | null>(null);
  const canAdd = canUsePasskeys();
  return (
    <Section
      title="Passkeys"
      lead={
        canAdd
          ? 'Sign in with your fingerprint, face or PIN, without waiting for an e-mail.'
          : 'This browser cannot add passkeys here.'
      }
      actions={canAdd && <Button onClick={() => setAdding(true)}>Add a passkey</Button>}
    >
      <QueryResult of={result} lines={2}>
        {(data) => (
          <Table
            caption="Passkeys"
            columns={columnsFor(setRemoving)}
            rows={data.passkeys}
            rowKey={({ id }) => id}
            empty="You have no passkey yet."
          />
        )}
      </QueryResult>
      {isAdding && <AddPasskey onClose={() => setAdding(false)} />}
      {removing && <RemovePasskey passkey={removing} onClose={() => setRemoving(null)} />}
    </Section>
  );
}

function AddPasskey({ onClose }: { readonly onClose: () => void }) {
  const { showNotice } = useNotice();
  const [name, setName] = useState(() => browserName(navigator.userAgent));
  return (
    <Dialog
      onClose={onClose}
      title="Add a passkey"
      text="Your browser will ask where to store the passkey, and for your fingerprint, face or PIN."
    >
      <DialogForm
        action="Add the passkey"
        working="Waiting for the browser …"
        mutation={useAddPasskey()}
        input={name}
        isReady={name.trim() !== ''}
        onDone={(outcome) => {
          if (outcome === 'cancelled') return;
          onClose();
          showNotice('The passkey was added. You can now use it to sign in.');
        }}
      >
        <Field
          label="Name"
          value={name}
          maxLength={NAME_LENGTH}
          autoComplete="off"
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
      </DialogForm>
    </Dialog>
  );
}

function RemovePasskey({
  passkey: { id, name },
  onClose,
}: {
  readonly passkey: Passkey;
  readonly onClose: () => void;
}) {
  const { showNotice } = useNotice();
  return (
    <Confirm
      mutation={useDeskMutation(removePasskey, [passkeys, log])}
      input={{ id }}
      onDone={() => {
        onClose();
        showNotice('The passkey was removed.');
      }}
      onClose={onClose}
      title={`Remove “${name}”?`}
      text="You can no longer sign in with this passkey. Delete it from your device too, or your browser will keep offering it. Sessions started with this passkey continue until you end them."
      action="Remove"
      isDanger
    />
  );
}

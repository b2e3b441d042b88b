import { useMemo, useState } from 'react';

import { log } from '#desk/endpoints/auth.ts';
import { passkeys, removePasskey, type Passkey } from '#desk/endpoints/passkeys.ts';
import { browserName } from '#desk/web/account/browser-name.ts';
import { canUsePasskeys } from '#desk/web/passkeys/passkeys.ts';
import { useAddPasskey } from '#desk/web/passkeys/use-passkeys.ts';
import { useAsk, useSend } from '#desk/web/queries.ts';
import { Answered } from '#desk/web/ui/answered.tsx';
import { Button } from '#desk/web/ui/button.tsx';
import { Confirm } from '#desk/web/ui/confirm.tsx';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { Dialog, DialogForm } from '#desk/web/ui/dialog.tsx';
import { EmptyState } from '#desk/web/ui/empty-state.tsx';
import { Field } from '#desk/web/ui/fields.tsx';
import { useNotice } from '#desk/web/ui/notice.tsx';
import { Section } from '#desk/web/ui/page.tsx';
import { Table, type Column } from '#desk/web/ui/table.tsx';
import { passkeys as words } from '#desk/web/words.ts';

/** Characters. */
const NAME_LENGTH = 100;

const columnsWith = (onRemove: (passkey: Passkey) => void): readonly Column<Passkey>[] => [
  { id: 'name', heading: words.name, isMain: true, cell: ({ name }) => name },
  { id: 'added', heading: words.added, cell: ({ addedAt }) => <DateTime at={addedAt} /> },
  {
    id: 'used',
    heading: words.used,
    cell: ({ usedAt }) => (usedAt === null ? words.notUsed : <DateTime at={usedAt} />),
  },
  {
    id: 'remove',
    heading: words.remove,
    isAction: true,
    cell: (passkey) => (
      <Button look="text" aria-label={words.removeOf(passkey.name)} onClick={() => onRemove(passkey)}>
        {words.remove}
      </Button>
    ),
  },
];

export function Passkeys() {
  const answer = useAsk(passkeys, {});
  const [isAdding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Passkey | null>(null);
  const columns = useMemo(() => columnsWith(setRemoving), []);
  const canAdd = canUsePasskeys();
  return (
    <Section
      title={words.heading}
      lead={canAdd ? words.lead : words.notHere}
      actions={canAdd && <Button onClick={() => setAdding(true)}>{words.add}</Button>}
    >
      <Answered of={answer} lines={2}>
        {(data) =>
          data.passkeys.length === 0 ? (
            <EmptyState text={words.none} />
          ) : (
            <Table caption={words.heading} columns={columns} rows={data.passkeys} rowKey={({ id }) => id} />
          )
        }
      </Answered>
      {isAdding && <AddPasskey onClose={() => setAdding(false)} />}
      {removing && <RemovePasskey passkey={removing} onClose={() => setRemoving(null)} />}
    </Section>
  );
}

function AddPasskey({ onClose }: { readonly onClose: () => void }) {
  const { say } = useNotice();
  const [name, setName] = useState(() => browserName(navigator.userAgent));
  const [complaint, setComplaint] = useState<string>();
  const { mutate, isPending, error } = useAddPasskey();
  return (
    <Dialog open onOpenChange={onClose} title={words.add} text={words.addText}>
      <DialogForm
        action={words.addAction}
        working={words.waiting}
        isBusy={isPending}
        error={error}
        onSubmit={() => {
          if (name.trim() === '') {
            setComplaint(words.noName);
            return;
          }
          mutate(name, {
            onSuccess: (outcome) => {
              if (outcome === 'cancelled') return;
              onClose();
              say(words.isAdded);
            },
          });
        }}
      >
        <Field
          label={words.nameLabel}
          value={name}
          maxLength={NAME_LENGTH}
          autoComplete="off"
          error={complaint}
          onChange={({ currentTarget }) => {
            setName(currentTarget.value);
            setComplaint(undefined);
          }}
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
  const { say } = useNotice();
  const { mutate, isPending, error } = useSend(removePasskey, [passkeys, log]);
  return (
    <Confirm
      open
      onOpenChange={onClose}
      title={words.removeTitle(name)}
      text={words.removeText}
      action={words.remove}
      isDanger
      isBusy={isPending}
      error={error}
      onConfirm={() =>
        mutate(
          { id },
          {
            onSuccess: () => {
              onClose();
              say(words.isRemoved);
            },
          },
        )
      }
    />
  );
}

// Mails the guide to a lead once more.
import { sendGuide, type Story } from '#desk/calls/people.ts';
import { CHANGED_BY_A_PERSON } from '#desk/web/person/changed-calls.ts';
import { ChangeForm } from '#desk/web/person/form.tsx';
import { useSend } from '#desk/web/queries.ts';
import { personPage } from '#desk/web/words.ts';

export function SendGuideForm({
  person: { id },
  onDone,
  onCancel,
}: {
  readonly person: Story['person'];
  readonly onDone: (sentence: string) => void;
  readonly onCancel: () => void;
}) {
  const words = personPage.sendGuide;
  const send = useSend(sendGuide, CHANGED_BY_A_PERSON);
  return (
    <ChangeForm
      confirm={words.confirm}
      error={send.error}
      isSending={send.isPending}
      onCancel={onCancel}
      onSend={() => send.mutate({ id }, { onSuccess: () => onDone(words.done) })}
    >
      <p>{words.about}</p>
    </ChangeForm>
  );
}

import { useState } from 'react';

import { log } from '#desk/endpoints/auth.ts';
import type { InputOf } from '#desk/endpoints/endpoint.ts';
import { suppressions as suppressionList, today } from '#desk/endpoints/figures.ts';
import {
  domains,
  erase,
  lost,
  people,
  sendGuide,
  personDetails,
  suppress,
  unsuppress,
  type PersonDetails,
} from '#desk/endpoints/people.ts';
import styles from '#desk/web/person/changes.module.css';
import { useDeskMutation } from '#desk/web/queries.ts';
import { Confirm } from '#desk/web/ui/dialog.tsx';
import { Field } from '#desk/web/ui/fields.tsx';
import type { NoticeKind } from '#desk/web/ui/notice.tsx';
import { normaliseEmail } from '#shared/lead.ts';

export type ChangeProps = Pick<PersonDetails, 'person' | 'suppressions'> & {
  readonly onClose: () => void;
  readonly onDone: (sentence: string, kind?: NoticeKind) => void;
};

const STALE_AFTER_ERASURE = [people, domains, lost, today, suppressionList, log];
export const STALE_AFTER_CHANGE = [personDetails, ...STALE_AFTER_ERASURE];

/** In characters. */
const NOTE_LENGTH = 500;

export function SendGuide({ person: { id, email }, onClose, onDone }: ChangeProps) {
  return (
    <Confirm
      mutation={useDeskMutation(sendGuide, STALE_AFTER_CHANGE)}
      input={{ id }}
      onDone={() => onDone('The guide is queued.')}
      onClose={onClose}
      title={`Send the guide to ${email} again?`}
      text="The e-mail is queued immediately. The timeline shows whether the mail server accepted it."
      action="Send"
    />
  );
}

type Reason = InputOf<typeof suppress>['reason'];

const REASONS: readonly { readonly reason: Reason; readonly name: string; readonly effect: string }[] = [
  {
    reason: 'by-hand',
    name: 'My own decision',
    effect: 'The consent remains valid. You can lift this suppression later.',
  },
  {
    reason: 'unsubscribed',
    name: 'The person unsubscribed elsewhere',
    effect: 'This withdraws the consent. Undo this only if it was a mistake.',
  },
  {
    reason: 'complained',
    name: 'The person complained',
    effect: 'This withdraws the consent. Only the person can give it again, with a new code.',
  },
  {
    reason: 'bounced',
    name: 'E-mails to this address bounce',
    effect: 'The consent remains valid. You can lift this suppression later.',
  },
];

export function StopMail({ person: { id, email }, onClose, onDone }: ChangeProps) {
  const [chosen, setChosen] = useState<Reason>('by-hand');
  const [note, setNote] = useState('');
  return (
    <Confirm
      mutation={useDeskMutation(suppress, STALE_AFTER_CHANGE)}
      input={{ id, reason: chosen, ...(note.trim() !== '' && { note: note.trim() }) }}
      onDone={() => onDone('This address will get no more mail.')}
      onClose={onClose}
      title={`Stop mail to ${email}?`}
      text="This site will send no more mail to this address, except codes that its owner requests."
      action="Stop mail"
    >
      <fieldset className={`stack ${styles.reasons}`}>
        <legend>Reason</legend>
        {REASONS.map(({ reason, name, effect }) => (
          <label key={reason} className={styles.reason}>
            <input
              type="radio"
              name="reason"
              checked={chosen === reason}
              onChange={() => setChosen(reason)}
            />
            <span>
              {name}
              <small>{effect}</small>
            </span>
          </label>
        ))}
      </fieldset>
      <Field
        label="Note: why, or at whose request (optional)"
        value={note}
        maxLength={NOTE_LENGTH}
        onChange={({ target }) => setNote(target.value)}
        autoComplete="off"
      />
    </Confirm>
  );
}

export function MailAgain({ person: { id, email }, suppressions, onClose, onDone }: ChangeProps) {
  const [reason, setReason] = useState('');
  const shown = suppressions.map((entry) => entry.reason);
  return (
    <Confirm
      mutation={useDeskMutation(unsuppress, STALE_AFTER_CHANGE)}
      input={{ id, reason: reason.trim(), shown }}
      onDone={({ staysStopped }) =>
        onDone(
          staysStopped
            ? 'This suppression was lifted, but the address still gets no mail for other reasons.'
            : 'This address can get mail again.',
        )
      }
      onClose={onClose}
      title={`Mail ${email} again?`}
      text="Do this only if stopping mail was a mistake or is no longer necessary. For leads, your reason is stored in the consent chain."
      action="Mail again"
      isReady={reason.trim() !== ''}
    >
      <Field
        label="Why mail may be sent again"
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
  const [typed, setTyped] = useState('');
  const [hasLeft, setHasLeft] = useState(false);
  const isSame = normaliseEmail(typed) === normaliseEmail(email);
  return (
    <Confirm
      mutation={useDeskMutation(erase, STALE_AFTER_ERASURE)}
      input={{ id, email: typed.trim() }}
      onDone={({ erased, hasRemains }) => onDone(erased, hasRemains ? 'problem' : 'done')}
      onClose={onClose}
      title={`Erase ${email}?`}
      text={
        <span className={styles.text}>
          <span>
            This deletes the person’s answers, e-mails, consent with its proof, export records and webhook
            events. It cannot be undone.
          </span>
          <span>Earlier exports and backups still contain the person’s data. Erase it there as well.</span>
        </span>
      }
      action="Erase permanently"
      isDanger
      isReady={isSame}
    >
      <Field
        label={`Type ${email} to confirm`}
        type="email"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={() => setHasLeft(typed !== '')}
        error={hasLeft && typed !== '' && !isSame ? 'This is not the person’s e-mail address.' : undefined}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
      />
    </Confirm>
  );
}

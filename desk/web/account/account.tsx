import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { endSession, sessions, type Session } from '#desk/endpoints/auth.ts';
import { browserName } from '#desk/web/account/browser-name.ts';
import { Passkeys } from '#desk/web/account/passkeys.tsx';
import { areShortcutsOn, setShortcuts } from '#desk/web/frame/shortcuts.ts';
import { useDeskUser, forgetDeskUser, useDeskQuery, useDeskMutation } from '#desk/web/queries.ts';
import { QueryResult } from '#desk/web/ui/states.tsx';
import { Button } from '#desk/web/ui/button.tsx';
import { Confirm } from '#desk/web/ui/dialog.tsx';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { useNotice } from '#desk/web/ui/notice.tsx';
import { Page, Section } from '#desk/web/ui/page.tsx';
import { Pill } from '#desk/web/ui/pill.tsx';
import { Table, type Column } from '#desk/web/ui/table.tsx';
import { ROLE_NAMES } from '#desk/web/format.ts';

const columnsFor = (onEnd: (session: Session) => void): readonly Column<Session>[] => [
  {
    heading: 'Browser',
    isMain: true,
    cell: ({ browser, isThis }) => (
      <>
        <span title={browser}>{browserName(browser) || 'Unknown browser'}</span>{' '}
        {isThis && <Pill tone="good">this one</Pill>}
      </>
    ),
  },
  { heading: 'From', cell: ({ from }) => from },
  { heading: 'Signed in', cell: ({ begunAt }) => <DateTime at={begunAt} /> },
  { heading: 'Ends', cell: ({ endsAt }) => <DateTime at={endsAt} /> },
  {
    heading: 'End session',
    isAction: true,
    cell: (session) => (
      <Button
        look="text"
        aria-label={`End the session of ${browserName(session.browser) || 'an unknown browser'}`}
        onClick={() => onEnd(session)}
      >
        End
      </Button>
    ),
  },
];

export function Account() {
  const { email, role } = useDeskUser();
  const result = useDeskQuery(sessions, {});
  const [ending, setEnding] = useState<Session | null>(null);
  return (
    <Page title="Account" lead={`${email ?? 'On this computer'} · ${ROLE_NAMES[role]}`}>
      {email !== null && <Passkeys />}
      <Section
        title="Sessions"
        lead="Browsers in which you are signed in. Each session ends after twelve hours."
      >
        <QueryResult of={result} lines={3}>
          {(data) => (
            <Table
              caption="Sessions"
              columns={columnsFor(setEnding)}
              rows={data.sessions}
              rowKey={({ id }) => id}
            />
          )}
        </QueryResult>
      </Section>
      <Section title="Keyboard">
        <label>
          <input
            type="checkbox"
            defaultChecked={areShortcutsOn()}
            onChange={({ currentTarget }) => setShortcuts(currentTarget.checked)}
          />{' '}
          Press / to search, and j or k for the next or previous person
        </label>
      </Section>
      {ending && <EndSession session={ending} onClose={() => setEnding(null)} />}
    </Page>
  );
}

function EndSession({ session, onClose }: { readonly session: Session; readonly onClose: () => void }) {
  const client = useQueryClient();
  const { showNotice } = useNotice();
  return (
    <Confirm
      mutation={useDeskMutation(endSession, [sessions])}
      input={{ id: session.id }}
      onDone={() => {
        onClose();
        if (session.isThis) forgetDeskUser(client);
        else showNotice('The session has ended.');
      }}
      onClose={onClose}
      title="End this session?"
      text={
        session.isThis
          ? 'This is your current session, so you will have to sign in again.'
          : 'To use the desk in that browser again, you will have to sign in.'
      }
      action="End the session"
    />
  );
}

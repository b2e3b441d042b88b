import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';

import { endSession, sessions, type Session } from '#desk/endpoints/auth.ts';
import { browserName } from '#desk/web/account/browser-name.ts';
import { Passkeys } from '#desk/web/account/passkeys.tsx';
import { usePerson } from '#desk/web/person.ts';
import { forgetPerson, useAsk, useSend } from '#desk/web/queries.ts';
import { Answered } from '#desk/web/ui/answered.tsx';
import { Button } from '#desk/web/ui/button.tsx';
import { Confirm } from '#desk/web/ui/confirm.tsx';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { useNotice } from '#desk/web/ui/notice.tsx';
import { Page, Section } from '#desk/web/ui/page.tsx';
import { Pill } from '#desk/web/ui/pill.tsx';
import { Table, type Column } from '#desk/web/ui/table.tsx';
import { account as words, frame, pages } from '#desk/web/words.ts';

const columnsWith = (onEnd: (session: Session) => void): readonly Column<Session>[] => [
  {
    id: 'browser',
    heading: words.browser,
    isMain: true,
    cell: ({ browser, isThis }) => (
      <>
        <span title={browser}>{browserName(browser) || words.unknownBrowser}</span>{' '}
        {isThis && <Pill tone="good">{words.thisOne}</Pill>}
      </>
    ),
  },
  { id: 'from', heading: words.from, cell: ({ from }) => from },
  { id: 'begun', heading: words.begun, cell: ({ begunAt }) => <DateTime at={begunAt} /> },
  { id: 'ends', heading: words.ends, cell: ({ endsAt }) => <DateTime at={endsAt} /> },
  {
    id: 'end',
    heading: words.action,
    isAction: true,
    cell: (session) => (
      <Button
        look="text"
        aria-label={words.endOf(browserName(session.browser))}
        onClick={() => onEnd(session)}
      >
        {words.end}
      </Button>
    ),
  },
];

export function Account() {
  const { email, role } = usePerson();
  const answer = useAsk(sessions, {});
  const [ending, setEnding] = useState<Session | null>(null);
  const columns = useMemo(() => columnsWith(setEnding), []);
  return (
    <Page title={pages.account} lead={words.lead(email ?? frame.atTheMachine, frame.roles[role])}>
      {email !== null && <Passkeys />}
      <Section title={words.sessions} lead={words.sessionsLead}>
        <Answered of={answer} lines={3}>
          {(data) => (
            <Table caption={words.sessions} columns={columns} rows={data.sessions} rowKey={({ id }) => id} />
          )}
        </Answered>
      </Section>
      <EndSession session={ending} onClose={() => setEnding(null)} />
    </Page>
  );
}

function EndSession({
  session,
  onClose,
}: {
  readonly session: Session | null;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const { say } = useNotice();
  const end = useSend(endSession, [sessions]);
  return (
    <Confirm
      open={session !== null}
      onOpenChange={(open) => {
        if (open) return;
        end.reset();
        onClose();
      }}
      title={words.endTitle}
      text={session?.isThis ? words.endThisText : words.endText}
      action={words.endAction}
      isBusy={end.isPending}
      error={end.error}
      onConfirm={() =>
        session &&
        end.mutate(
          { id: session.id },
          {
            onSuccess: () => {
              onClose();
              if (session.isThis) forgetPerson(client);
              else say(words.ended);
            },
          },
        )
      }
    />
  );
}

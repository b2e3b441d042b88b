import { log, type DeskAction, type LogEntry } from '#desk/endpoints/auth.ts';
import { useDeskPages } from '#desk/web/queries.ts';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { PagedResult } from '#desk/web/ui/states.tsx';
import { Page } from '#desk/web/ui/page.tsx';
import { Pill, type Tone } from '#desk/web/ui/pill.tsx';
import { Table, type Column } from '#desk/web/ui/table.tsx';
import { NONE } from '#desk/web/format.ts';

const TONES: Readonly<Partial<Record<DeskAction, Tone>>> = {
  exported: 'warning',
  erased: 'problem',
};

const ACTIONS: Readonly<Record<DeskAction, string>> = {
  'signed-in': 'Signed in',
  'signed-out': 'Signed out',
  refused: 'Entered a wrong code or passkey',
  viewed: 'Viewed',
  exported: 'Exported',
  imported: 'Imported',
  corrected: 'Corrected',
  erased: 'Erased',
  suppressed: 'Stopped mail',
  unsuppressed: 'Undid a stop of mail',
  'sent-guide': 'Sent the guide again',
  'retried-webhooks': 'Sent webhooks again',
  'downloaded-report': 'Downloaded a report',
  'sent-report': 'Sent a report',
  'added-passkey': 'Added a passkey',
  'removed-passkey': 'Removed a passkey',
};

const COLUMNS: readonly Column<LogEntry>[] = [
  { heading: 'When', cell: ({ at }) => <DateTime at={at} isShort /> },
  { heading: 'Who', cell: ({ who }) => who },
  {
    heading: 'What',
    isMain: true,
    cell: ({ action }) => <Pill tone={TONES[action] ?? 'plain'}>{ACTIONS[action]}</Pill>,
  },
  {
    heading: 'About',
    cell: ({ about }) => about ?? NONE,
  },
  {
    heading: 'Details',
    isLong: true,
    cell: ({ details }) => details || NONE,
  },
  { heading: 'From', cell: ({ from }) => from || NONE },
];

export function LogPage() {
  const result = useDeskPages(log, {});
  return (
    <Page
      title="Audit log"
      lead="Actions taken in the desk and by its commands. Entries are kept for as long as personal data."
    >
      <PagedResult of={result}>
        {(pages) => (
          <Table
            caption="Audit log"
            columns={COLUMNS}
            rows={pages.flatMap((page) => page.entries)}
            rowKey={({ id }) => id}
          />
        )}
      </PagedResult>
    </Page>
  );
}

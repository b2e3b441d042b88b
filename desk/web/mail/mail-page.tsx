import { mail, suppressions } from '#desk/endpoints/figures.ts';
import type { Answer } from '#desk/endpoints/endpoint.ts';
import { addressOf } from '#desk/web/ask.ts';
import { Link } from '#desk/web/router.tsx';
import { Webhooks } from '#desk/web/mail/webhooks.tsx';
import { usePagesOf, useAsk } from '#desk/web/queries.ts';
import { Answered, EmptyState, More } from '#desk/web/ui/states.tsx';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { Page, Section } from '#desk/web/ui/page.tsx';
import { Table, type Column } from '#desk/web/ui/table.tsx';
import { NONE, number, suppressionReason } from '#desk/web/format.ts';

type Mail = Answer<typeof mail>;
type Suppression = Answer<typeof suppressions>['suppressions'][number];

export function MailPage() {
  const asked = useAsk(mail, {}, { refetchOnWindowFocus: true });
  return (
    <Page title="Mail">
      {asked.data?.isWritable === false && (
        <p className="callout" role="alert">
          No mail is being sent, because the database is not writable. Run the doctor to find out why.
        </p>
      )}
      <Answered of={asked} lines={6}>
        {({ waiting, refused }) => (
          <>
            <Section title="Queued">
              <Waiting waiting={waiting} />
            </Section>
            <Section title="Refused in the last 30 days">
              <Refused refused={refused} />
            </Section>
          </>
        )}
      </Answered>
      <Webhooks />
      <Suppressions />
    </Page>
  );
}

const WAITING: readonly Column<Mail['waiting'][number]>[] = [
  { id: 'domain', heading: 'Domain', isMain: true, cell: ({ domain }) => domain },
  { id: 'count', heading: 'Mails', isNumber: true, cell: ({ count }) => number(count) },
  {
    id: 'putOff',
    heading: 'Put off',
    isNumber: true,
    cell: ({ putOff }) => (putOff === 0 ? NONE : number(putOff)),
  },
  {
    id: 'oldest',
    heading: 'The oldest since',
    cell: ({ oldestAt }) => <DateTime at={oldestAt} isShort />,
  },
];

const Waiting = ({ waiting }: Pick<Mail, 'waiting'>) =>
  waiting.length === 0 ? (
    <EmptyState text="No mail is queued." />
  ) : (
    <Table caption="Queued mail by domain" columns={WAITING} rows={waiting} rowKey={({ domain }) => domain} />
  );

const REFUSED: readonly Column<Mail['refused'][number]>[] = [
  { id: 'domain', heading: 'Domain', isMain: true, cell: ({ domain }) => domain },
  {
    id: 'reply',
    heading: 'The mail server said',
    isLong: true,
    cell: ({ reply }) => reply || NONE,
  },
  { id: 'count', heading: 'Mails', isNumber: true, cell: ({ count }) => number(count) },
  { id: 'last', heading: 'Last', cell: ({ lastAt }) => <DateTime at={lastAt} isShort /> },
];

const Refused = ({ refused }: Pick<Mail, 'refused'>) =>
  refused.length === 0 ? (
    <EmptyState text="No mail server has refused an e-mail." />
  ) : (
    <Table
      caption="Refused mail by domain"
      columns={REFUSED}
      rows={refused}
      rowKey={({ domain, reply }) => `${domain} ${reply}`}
    />
  );

const SUPPRESSED: readonly Column<Suppression>[] = [
  {
    id: 'email',
    heading: 'Address',
    isMain: true,
    cell: ({ id, email }) => {
      if (email === null) return <span className="quiet">An erased address</span>;
      return id === null ? email : <Link href={addressOf('/person', { id })}>{email}</Link>;
    },
  },
  {
    id: 'reason',
    heading: 'Reason',
    cell: ({ reason }) => suppressionReason(reason),
  },
  {
    id: 'since',
    heading: 'Since',
    cell: ({ since }) => <DateTime at={since} isShort />,
  },
  {
    id: 'note',
    heading: 'Note',
    isLong: true,
    cell: ({ note }) => note ?? NONE,
  },
];

function Suppressions() {
  const asked = usePagesOf(suppressions, {});
  return (
    <Section
      title="Suppressed addresses"
      lead="These addresses get no mail except the codes that their owners request."
    >
      <More of={asked}>
        {(pages) => {
          const rows = pages.flatMap((page) => page.suppressions);
          return rows.length === 0 ? (
            <EmptyState text="No address is suppressed." />
          ) : (
            <Table
              caption="Addresses that get no mail"
              columns={SUPPRESSED}
              rows={rows}
              rowKey={(_, index) => String(index)}
            />
          );
        }}
      </More>
    </Section>
  );
}

import { mail, suppressions } from '#desk/endpoints/figures.ts';
import type { OutputOf } from '#desk/endpoints/endpoint.ts';
import { urlOf } from '#desk/web/api-client.ts';
import { Link } from '#desk/web/router.tsx';
import { Webhooks } from '#desk/web/mail/webhooks.tsx';
import { useDeskPages, useDeskQuery } from '#desk/web/queries.ts';
import { QueryResult, PagedResult } from '#desk/web/ui/states.tsx';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { Page, Section } from '#desk/web/ui/page.tsx';
import { Table, type Column } from '#desk/web/ui/table.tsx';
import { NONE, number, suppressionReason } from '#desk/web/format.ts';

type Mail = OutputOf<typeof mail>;
type Suppression = OutputOf<typeof suppressions>['suppressions'][number];

export function MailPage() {
  const result = useDeskQuery(mail, {}, { refetchOnWindowFocus: true });
  return (
    <Page title="Mail">
      {result.data?.isWritable === false && (
        <p className="callout" role="alert">
          No mail is being sent, because the database is not writable. Run the doctor to find out why.
        </p>
      )}
      <QueryResult of={result} lines={6}>
        {({ waiting, refused }) => (
          <>
            <Section title="Queued">
              <Table
                caption="Queued mail by domain"
                columns={WAITING_COLUMNS}
                rows={waiting}
                rowKey={({ domain }) => domain}
                empty="No mail is queued."
              />
            </Section>
            <Section title="Refused in the last 30 days">
              <Table
                caption="Refused mail by domain"
                columns={REFUSED_COLUMNS}
                rows={refused}
                rowKey={({ domain, reply }) => `${domain} ${reply}`}
                empty="No mail server has refused an e-mail."
              />
            </Section>
          </>
        )}
      </QueryResult>
      <Webhooks />
      <Suppressions />
    </Page>
  );
}

const WAITING_COLUMNS: readonly Column<Mail['waiting'][number]>[] = [
  { heading: 'Domain', isMain: true, cell: ({ domain }) => domain },
  { heading: 'Mails', isNumber: true, cell: ({ count }) => number(count) },
  {
    heading: 'Put off',
    isNumber: true,
    cell: ({ putOff }) => (putOff === 0 ? NONE : number(putOff)),
  },
  {
    heading: 'The oldest since',
    cell: ({ oldestAt }) => <DateTime at={oldestAt} isShort />,
  },
];

const REFUSED_COLUMNS: readonly Column<Mail['refused'][number]>[] = [
  { heading: 'Domain', isMain: true, cell: ({ domain }) => domain },
  {
    heading: 'The mail server said',
    isLong: true,
    cell: ({ reply }) => reply || NONE,
  },
  { heading: 'Mails', isNumber: true, cell: ({ count }) => number(count) },
  { heading: 'Last', cell: ({ lastAt }) => <DateTime at={lastAt} isShort /> },
];

const SUPPRESSION_COLUMNS: readonly Column<Suppression>[] = [
  {
    heading: 'Address',
    isMain: true,
    cell: ({ id, email }) => {
      if (email === null) return <span className="quiet">No longer stored</span>;
      return id === null ? email : <Link href={urlOf('/person', { id })}>{email}</Link>;
    },
  },
  {
    heading: 'Reason',
    cell: ({ reason }) => suppressionReason(reason),
  },
  {
    heading: 'Since',
    cell: ({ since }) => <DateTime at={since} isShort />,
  },
  {
    heading: 'Note',
    isLong: true,
    cell: ({ note }) => note ?? NONE,
  },
];

function Suppressions() {
  const result = useDeskPages(suppressions, {});
  return (
    <Section
      title="Suppressed addresses"
      lead="These addresses get no mail except the codes that their owners request."
    >
      <PagedResult of={result}>
        {(pages) => (
          <Table
            caption="Addresses that get no mail"
            columns={SUPPRESSION_COLUMNS}
            rows={pages.flatMap((page) => page.suppressions)}
            rowKey={(_, index) => String(index)}
            empty="No address is suppressed."
          />
        )}
      </PagedResult>
    </Section>
  );
}

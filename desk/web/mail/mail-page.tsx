import { mail, suppressions } from '#desk/endpoints/figures.ts';
import type { Answer } from '#desk/endpoints/endpoint.ts';
import { addressOf } from '#desk/web/ask.ts';
import { Link } from '#desk/web/link.tsx';
import styles from '#desk/web/mail/mail-page.module.css';
import { Webhooks } from '#desk/web/mail/webhooks.tsx';
import { usePagesOf } from '#desk/web/pages-of.ts';
import { useAsk } from '#desk/web/queries.ts';
import { Answered } from '#desk/web/ui/answered.tsx';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { EmptyState } from '#desk/web/ui/empty-state.tsx';
import { More } from '#desk/web/ui/more.tsx';
import { Page, Section } from '#desk/web/ui/page.tsx';
import { Table, type Column } from '#desk/web/ui/table.tsx';
import { mail as words, number, parts, suppressionReasons } from '#desk/web/words.ts';

type Mail = Answer<typeof mail>;
type Suppression = Answer<typeof suppressions>['suppressions'][number];

export function MailPage() {
  const asked = useAsk(mail, {}, { refetchOnWindowFocus: true });
  return (
    <Page title={words.title}>
      {asked.data?.isWritable === false && (
        <p className={styles.stuck} role="alert">
          {words.stuck}
        </p>
      )}
      <Answered of={asked} lines={6}>
        {({ waiting, refused }) => (
          <>
            <Section title={words.waiting.heading}>
              <Waiting waiting={waiting} />
            </Section>
            <Section title={words.refused.heading}>
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
  { id: 'domain', heading: words.waiting.columns.domain, isMain: true, cell: ({ domain }) => domain },
  { id: 'count', heading: words.waiting.columns.count, isNumber: true, cell: ({ count }) => number(count) },
  {
    id: 'putOff',
    heading: words.waiting.columns.putOff,
    isNumber: true,
    cell: ({ putOff }) => (putOff === 0 ? parts.none : number(putOff)),
  },
  {
    id: 'oldest',
    heading: words.waiting.columns.oldest,
    cell: ({ oldestAt }) => <DateTime at={oldestAt} isShort />,
  },
];

const Waiting = ({ waiting }: Pick<Mail, 'waiting'>) =>
  waiting.length === 0 ? (
    <EmptyState text={words.waiting.none} />
  ) : (
    <Table caption={words.waiting.caption} columns={WAITING} rows={waiting} rowKey={({ domain }) => domain} />
  );

const REFUSED: readonly Column<Mail['refused'][number]>[] = [
  { id: 'domain', heading: words.refused.columns.domain, isMain: true, cell: ({ domain }) => domain },
  {
    id: 'reply',
    heading: words.refused.columns.reply,
    isLong: true,
    cell: ({ reply }) => reply || parts.none,
  },
  { id: 'count', heading: words.refused.columns.count, isNumber: true, cell: ({ count }) => number(count) },
  { id: 'last', heading: words.refused.columns.last, cell: ({ lastAt }) => <DateTime at={lastAt} isShort /> },
];

const Refused = ({ refused }: Pick<Mail, 'refused'>) =>
  refused.length === 0 ? (
    <EmptyState text={words.refused.none} />
  ) : (
    <Table
      caption={words.refused.caption}
      columns={REFUSED}
      rows={refused}
      rowKey={({ domain, reply }) => `${domain} ${reply}`}
    />
  );

const SUPPRESSED: readonly Column<Suppression>[] = [
  {
    id: 'email',
    heading: words.suppressions.columns.email,
    isMain: true,
    cell: ({ id, email }) => {
      if (email === null) return <span className={styles.quiet}>{words.suppressions.erased}</span>;
      return id === null ? email : <Link href={addressOf('/person', { id })}>{email}</Link>;
    },
  },
  {
    id: 'reason',
    heading: words.suppressions.columns.reason,
    cell: ({ reason }) => suppressionReasons[reason] ?? reason,
  },
  {
    id: 'since',
    heading: words.suppressions.columns.since,
    cell: ({ since }) => <DateTime at={since} isShort />,
  },
  {
    id: 'note',
    heading: words.suppressions.columns.note,
    isLong: true,
    cell: ({ note }) => note ?? parts.none,
  },
];

function Suppressions() {
  const asked = usePagesOf(suppressions, {});
  return (
    <Section title={words.suppressions.heading} lead={words.suppressions.about}>
      <More of={asked}>
        {(pages) => {
          const rows = pages.flatMap((page) => page.suppressions);
          return rows.length === 0 ? (
            <EmptyState text={words.suppressions.none} />
          ) : (
            <Table
              caption={words.suppressions.caption}
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

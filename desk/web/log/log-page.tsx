import { log, type DeskAction, type LogEntry } from '#desk/endpoints/auth.ts';
import styles from '#desk/web/log/log-page.module.css';
import { usePagesOf } from '#desk/web/pages-of.ts';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { EmptyState } from '#desk/web/ui/empty-state.tsx';
import { More } from '#desk/web/ui/more.tsx';
import { Page } from '#desk/web/ui/page.tsx';
import { Pill, type Tone } from '#desk/web/ui/pill.tsx';
import { Table, type Column } from '#desk/web/ui/table.tsx';
import { log as words, parts } from '#desk/web/words.ts';

const TONES: Readonly<Partial<Record<DeskAction, Tone>>> = {
  exported: 'warning',
  erased: 'problem',
};

const COLUMNS: readonly Column<LogEntry>[] = [
  { id: 'at', heading: words.columns.at, cell: ({ at }) => <DateTime at={at} isShort /> },
  { id: 'who', heading: words.columns.who, cell: ({ who }) => <span className={styles.address}>{who}</span> },
  {
    id: 'deed',
    heading: words.columns.deed,
    isMain: true,
    cell: ({ deed }) => <Pill tone={TONES[deed] ?? 'plain'}>{words.deeds[deed]}</Pill>,
  },
  {
    id: 'about',
    heading: words.columns.about,
    cell: ({ about }) => <span className={styles.address}>{about ?? parts.none}</span>,
  },
  {
    id: 'details',
    heading: words.columns.details,
    isLong: true,
    cell: ({ details }) => details || parts.none,
  },
  { id: 'from', heading: words.columns.from, cell: ({ from }) => from || parts.none },
];

export function LogPage() {
  const asked = usePagesOf(log, {});
  return (
    <Page title={words.title} lead={words.about}>
      <More of={asked}>
        {(pages) => {
          const entries = pages.flatMap((page) => page.entries);
          return entries.length === 0 ? (
            <EmptyState title={words.empty.title} text={words.empty.text} />
          ) : (
            <Table caption={words.title} columns={COLUMNS} rows={entries} rowKey={({ id }) => id} />
          );
        }}
      </More>
    </Page>
  );
}

import { useState } from 'react';

import { lost, type Lost } from '#desk/endpoints/people.ts';
import { urlOf } from '#desk/web/api-client.ts';
import { Link, navigate, useLocation } from '#desk/web/router.tsx';
import {
  lostUrl,
  readLostDays,
  spanOfDays,
  type LostDays,
  LOST_DAYS,
  filterLost,
  LOST_FACETS,
  countFacet,
  readLostChoice,
  type LostChoice,
} from '#desk/web/lost/lost-choice.ts';
import styles from '#desk/web/lost/lost-page.module.css';
import { useDeskPages, useFetchNextPages, useTimeZone } from '#desk/web/queries.ts';
import { Button } from '#desk/web/ui/button.tsx';
import { Chips } from '#desk/web/ui/chips.tsx';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { QueryResult, EmptyState, MoreButton } from '#desk/web/ui/states.tsx';
import { Page } from '#desk/web/ui/page.tsx';
import { Table, type Column } from '#desk/web/ui/table.tsx';
import { NONE, counted, number, people as countPeople } from '#desk/web/format.ts';
import { DAYS_NAMES } from '#desk/web/named-days.ts';
import { areNamedDays } from '#shared/days.ts';

const AUTO_LOAD_LIMIT = 1_000;
const SHOWN_AT_ONCE = 100;

export function LostPage() {
  const { query } = useLocation();
  const days = readLostDays(query);
  const choice = readLostChoice(query);
  const show = (...chosen: Parameters<typeof lostUrl>) => navigate(lostUrl(...chosen), { replace: true });
  return (
    <Page
      title="Lost"
      lead="People who asked for a code but never entered one. They have not agreed to anything, so do not write to them. Fix the causes instead."
    >
      <DaysFilter days={days} onChange={(chosen) => show(chosen, choice)} />
      <LostList key={days} days={days} choice={choice} onChoose={(changed) => show(days, changed)} />
    </Page>
  );
}

type LostListProps = {
  readonly days: LostDays;
  readonly choice: LostChoice;
  readonly onChoose: (choice: LostChoice) => void;
};

function LostList({ days, choice, onChoose }: LostListProps) {
  // Fixed, so the days do not shift between pages of results.
  const [now] = useState(() => Date.now());
  const result = useDeskPages(lost, spanOfDays(days, now, useTimeZone()));
  const { data: pages = [], error, hasNextPage, isFetchingNextPage, fetchNextPage } = result;
  const people = pages.flatMap((page) => page.lost);
  const open = pages.reduce((sum, page) => sum + page.open, 0);
  const note = pages[0]?.note ?? null;
  const isPaused = hasNextPage && people.length >= AUTO_LOAD_LIMIT;
  const isLoading = hasNextPage && !isPaused && error === null;
  useFetchNextPages(result, isLoading);
  const [limit, setLimit] = useState(SHOWN_AT_ONCE);
  const chosen = filterLost(people, choice);
  const isEmpty = people.length === 0 && !hasNextPage;
  return (
    <QueryResult of={result} lines={8}>
      {() => (
        <>
          {!isEmpty && <Facets people={people} choice={choice} onChoose={onChoose} />}
          <p className={styles.count} role="status">
            {[
              ...(isEmpty ? [] : [describeCount(chosen.length, people.length, !hasNextPage)]),
              ...(isLoading ? ['Still reading …'] : []),
              ...(open > 0 ? [`${counted(open, 'more person', 'more people')} can still enter a code.`] : []),
              ...(note === null || isEmpty ? [] : [note]),
            ].join(' ')}
          </p>
          {isEmpty ? (
            <EmptyState
              title="Nobody was lost"
              text={note ?? 'Everyone who asked for a code in this period has entered it or still can.'}
            />
          ) : chosen.length === 0 && !hasNextPage ? (
            <EmptyState title="Nobody matches these filters" text="Remove a filter.">
              <Button onClick={() => onChoose({})}>Clear the filters</Button>
            </EmptyState>
          ) : (
            <Table
              caption="People who entered no code"
              columns={COLUMNS}
              rows={chosen.slice(0, limit)}
              rowKey={({ id, email }) => id ?? email}
            />
          )}
          {chosen.length > limit ? (
            <MoreButton onClick={() => setLimit(limit + SHOWN_AT_ONCE)} />
          ) : (
            isPaused && (
              <MoreButton isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                Load more
              </MoreButton>
            )
          )}
        </>
      )}
    </QueryResult>
  );
}

type FacetsProps = Pick<LostListProps, 'choice' | 'onChoose'> & { readonly people: readonly Lost[] };

function Facets({ people, choice, onChoose }: FacetsProps) {
  const facets = LOST_FACETS.map((facet) => ({ facet, options: countFacet(people, choice, facet) }));
  return (
    <div className="stack">
      {facets
        .filter(({ facet, options }) => options.length > 1 || choice[facet] !== undefined)
        .map(({ facet, options }) => (
          <Chips
            key={facet}
            label={FACET_LABELS[facet]}
            all="All"
            chosen={choice[facet]}
            options={options}
            onChoose={(value) => onChoose({ ...choice, [facet]: value })}
          />
        ))}
    </div>
  );
}

const FACET_LABELS = { why: 'Why', platform: 'Mail platform', source: 'Source' } as const;

const describeCount = (shown: number, all: number, isComplete: boolean): string =>
  `${shown === all ? '' : `${number(shown)} of `}${countPeople(all)}${isComplete ? '' : ' so far'}.`;

const COLUMNS: readonly Column<Lost>[] = [
  { heading: 'Asked', cell: ({ asked_at: at }) => <DateTime at={at} isShort /> },
  { heading: 'Person', isMain: true, cell: (one) => <PersonCell lost={one} /> },
  { heading: 'Why', isLong: true, cell: (one) => <ReasonCell lost={one} /> },
  { heading: 'Platform', cell: ({ platform }) => platform },
  {
    heading: 'Source',
    cell: ({ source }) => <span className={styles.source}>{source || NONE}</span>,
    isFilled: ({ source }) => source !== '',
  },
];

function PersonCell({ lost: { id, email, name, company } }: { readonly lost: Lost }) {
  const shownName = name || email;
  return (
    <>
      {id === null ? shownName : <Link href={urlOf('/person', { id })}>{shownName}</Link>}
      <small>{[name === '' ? '' : email, company].filter((text) => text !== '').join(', ')}</small>
    </>
  );
}

/** A reply such as "250 OK" does not explain why the person was lost. */
const isAcceptance = (reply: string): boolean => reply.startsWith('2');

function ReasonCell({ lost: { why, reply, codes, wrong_attempts: wrongAttempts } }: { readonly lost: Lost }) {
  const counts = [
    ...(codes > 1 ? [counted(codes, 'code')] : []),
    ...(wrongAttempts > 0 ? [counted(wrongAttempts, 'wrong attempt')] : []),
  ];
  return (
    <>
      {why}
      {counts.length > 0 && <span className="quiet"> ({counts.join(', ')})</span>}
      {reply !== null && !isAcceptance(reply) && (
        <small className={styles.reply}>
          <q>{reply}</q>
        </small>
      )}
    </>
  );
}

const DaysFilter = ({
  days,
  onChange,
}: {
  readonly days: LostDays;
  readonly onChange: (days: LostDays) => void;
}) => (
  <div className="stack">
    <Chips
      label="Asked"
      chosen={days}
      options={LOST_DAYS.map((value) => ({
        value,
        name: areNamedDays(value) ? DAYS_NAMES[value] : `Last ${value} days`,
      }))}
      onChoose={(value) => value && onChange(value)}
    />
    <span className="quiet small">Days in {useTimeZone()}.</span>
  </div>
);

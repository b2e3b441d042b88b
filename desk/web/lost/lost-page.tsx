import { useState } from 'react';

import { lost, type Lost } from '#desk/endpoints/people.ts';
import { addressOf } from '#desk/web/ask.ts';
import { Link, go, usePlace } from '#desk/web/router.tsx';
import {
  lostUrl,
  readLostDays,
  spanOfDays,
  type LostDays,
  LOST_DAYS,
  chosenLost,
  LOST_FACETS,
  lostGroups,
  readLostChoice,
  type LostChoice,
} from '#desk/web/lost/lost-choice.ts';
import styles from '#desk/web/lost/lost-page.module.css';
import { usePagesOf, useReadOn, useTimeZone } from '#desk/web/queries.ts';
import { Button } from '#desk/web/ui/button.tsx';
import { Chips } from '#desk/web/ui/chips.tsx';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { Answered, EmptyState, MoreButton } from '#desk/web/ui/states.tsx';
import { Page } from '#desk/web/ui/page.tsx';
import { Table, type Column } from '#desk/web/ui/table.tsx';
import { NONE, counted, number, people as countPeople } from '#desk/web/format.ts';
import { DAYS_NAMES } from '#desk/web/named-days.ts';
import { areNamedDays } from '#shared/days.ts';

const READ_LIMIT = 1_000;
const SHOWN_AT_ONCE = 100;

export function LostPage() {
  const { query } = usePlace();
  const days = readLostDays(query);
  const choice = readLostChoice(query);
  // Fixed, so the days do not shift between pages of results.
  const [now] = useState(() => Date.now());
  const span = spanOfDays(days, now, useTimeZone());
  const asked = usePagesOf(lost, span);
  const { data: pages = [], error, hasNextPage, isFetchingNextPage, fetchNextPage } = asked;
  const people = pages.flatMap((page) => page.lost);
  const paging: Paging = !hasNextPage
    ? { type: 'complete' }
    : people.length >= READ_LIMIT
      ? { type: 'paused', isReadingMore: isFetchingNextPage, readMore: () => void fetchNextPage() }
      : { type: error === null ? 'reading' : 'failed' };
  useReadOn(asked, paging.type === 'reading');
  const move = (to: string) => go(to, { replace: true });

  return (
    <Page
      title="Lost"
      lead="People who asked for a code but never entered one. They have not agreed to anything, so do not write to them. Fix the causes instead."
    >
      <DaysChoice days={days} onChange={(chosen) => move(lostUrl(chosen, choice))} />
      <Answered of={asked} lines={8}>
        {() => (
          <Found
            key={days}
            people={people}
            open={pages.reduce((sum, page) => sum + page.open, 0)}
            choice={choice}
            paging={paging}
            onChoose={(changed) => move(lostUrl(days, changed))}
          />
        )}
      </Answered>
    </Page>
  );
}

/** Unless `complete`, further pages may contain more people. `paused`: at the limit, until the user asks for more. */
type Paging =
  | { readonly type: 'complete' | 'reading' | 'failed' }
  | { readonly type: 'paused'; readonly isReadingMore: boolean; readonly readMore: () => void };

function Found({
  people,
  open,
  choice,
  paging,
  onChoose,
}: {
  readonly people: readonly Lost[];
  readonly open: number;
  readonly choice: LostChoice;
  readonly paging: Paging;
  readonly onChoose: (choice: LostChoice) => void;
}) {
  const [limit, setLimit] = useState(SHOWN_AT_ONCE);
  const chosen = chosenLost(people, choice);
  const isComplete = paging.type === 'complete';
  const isEmpty = people.length === 0 && isComplete;
  return (
    <>
      {!isEmpty && (
        <div className="stack">
          {LOST_FACETS.map((facet) => {
            const options = lostGroups(people, choice, facet);
            if (options.length < 2 && choice[facet] === undefined) return null;
            return (
              <Chips
                key={facet}
                label={FACETS[facet]}
                all="All"
                chosen={choice[facet]}
                options={options.map(({ value, people: count }) => ({ value, count }))}
                onChoose={(value) => {
                  const { [facet]: _, ...rest } = choice;
                  onChoose(value === undefined ? rest : { ...rest, [facet]: value });
                }}
              />
            );
          })}
        </div>
      )}
      <p className={styles.count} role="status">
        {[
          ...(isEmpty ? [] : [countInWords(chosen.length, people.length, isComplete)]),
          ...(paging.type === 'reading' ? ['Still reading …'] : []),
          ...(open > 0 ? [`${counted(open, 'more person', 'more people')} can still enter a code.`] : []),
        ].join(' ')}
      </p>
      {isEmpty ? (
        <EmptyState
          title="Nobody was lost"
          text="Everyone who asked for a code in this period has entered it or still can."
        />
      ) : chosen.length === 0 && isComplete ? (
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
        paging.type === 'paused' && (
          <MoreButton isBusy={paging.isReadingMore} onClick={paging.readMore}>
            Load more
          </MoreButton>
        )
      )}
    </>
  );
}

const FACETS = { why: 'Why', platform: 'Mail platform', source: 'Source' } as const;

const countInWords = (shown: number, all: number, isComplete: boolean): string =>
  `${shown === all ? '' : `${number(shown)} of `}${countPeople(all)}${isComplete ? '' : ' so far'}.`;

const COLUMNS: readonly Column<Lost>[] = [
  { heading: 'Asked', cell: ({ asked_at: at }) => <DateTime at={at} isShort /> },
  { heading: 'Person', isMain: true, cell: (one) => <Who lost={one} /> },
  { heading: 'Why', isLong: true, cell: (one) => <Why lost={one} /> },
  { heading: 'Platform', cell: ({ platform }) => platform },
  {
    heading: 'Source',
    cell: ({ source }) => <span className={styles.source}>{source || NONE}</span>,
    isFilled: ({ source }) => source !== '',
  },
];

function Who({ lost: { id, email, name, company } }: { readonly lost: Lost }) {
  const said = name || email;
  return (
    <>
      {id === null ? said : <Link href={addressOf('/person', { id })}>{said}</Link>}
      <small>{[name === '' ? '' : email, company].filter((text) => text !== '').join(', ')}</small>
    </>
  );
}

/** "250 OK" explains nothing: the mail server took the code. */
const isAcceptance = (reply: string): boolean => reply.startsWith('2');

function Why({ lost: { why, reply, codes, wrong_tries: wrongTries } }: { readonly lost: Lost }) {
  const counts = [
    ...(codes > 1 ? [counted(codes, 'code')] : []),
    ...(wrongTries > 0 ? [counted(wrongTries, 'wrong attempt')] : []),
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

const DaysChoice = ({
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
      onChoose={(value) => onChange(readLostDays(new URLSearchParams({ days: value ?? '' })))}
    />
    <span className="quiet small">Days in {useTimeZone()}.</span>
  </div>
);

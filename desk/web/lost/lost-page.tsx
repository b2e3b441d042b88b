import { useEffect, useState } from 'react';

import { lost, type Lost } from '#desk/endpoints/people.ts';
import { addressOf } from '#desk/web/ask.ts';
import { Link } from '#desk/web/link.tsx';
import { DaysChoice } from '#desk/web/lost/days-choice.tsx';
import { lostDaysQuery, readLostDays, spanOfDays, type LostDays } from '#desk/web/lost/lost-days.ts';
import {
  chosenLost,
  LOST_FACETS,
  lostGroups,
  readLostChoice,
  type LostChoice,
} from '#desk/web/lost/lost-groups.ts';
import styles from '#desk/web/lost/lost-page.module.css';
import { retry, usePagesOf } from '#desk/web/pages-of.ts';
import { go, usePlace } from '#desk/web/router.ts';
import { Button } from '#desk/web/ui/button.tsx';
import { Chips } from '#desk/web/ui/chips.tsx';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { EmptyState } from '#desk/web/ui/empty-state.tsx';
import { FailedState } from '#desk/web/ui/failed-state.tsx';
import { Page } from '#desk/web/ui/page.tsx';
import { Skeleton } from '#desk/web/ui/skeleton.tsx';
import { Table, type Column } from '#desk/web/ui/table.tsx';
import { lost as words, parts } from '#desk/web/words.ts';

const READ_LIMIT = 1_000;
const SHOWN_AT_ONCE = 100;

const addressOfLost = (days: LostDays, choice: LostChoice): string =>
  addressOf('/lost', { ...lostDaysQuery(days), ...choice });

export function LostPage() {
  const { query } = usePlace();
  const days = readLostDays(query);
  const choice = readLostChoice(query);
  // Fixed, so the days do not shift between pages.
  const [now] = useState(() => Date.now());
  const asked = usePagesOf(lost, spanOfDays(days, now));
  const { data, error, hasNextPage, isFetching, isFetchingNextPage, fetchNextPage } = asked;
  const people = data?.pages.flatMap((page) => page.lost) ?? [];
  const goesOn = hasNextPage && people.length < READ_LIMIT;
  useEffect(() => {
    if (goesOn && !isFetching && error === null) void fetchNextPage();
  }, [goesOn, isFetching, error, fetchNextPage]);
  const move = (to: Parameters<typeof addressOfLost>) => go(addressOfLost(...to), { replace: true });

  return (
    <Page title={words.title} lead={words.about}>
      <DaysChoice days={days} span={spanOfDays(days, now)} onChange={(chosen) => move([chosen, choice])} />
      {error !== null && <FailedState error={error} onRetry={() => retry(asked)} />}
      {data === undefined ? (
        error === null && <Skeleton lines={8} />
      ) : (
        <Found
          key={JSON.stringify(days)}
          people={people}
          open={data.pages.reduce((sum, page) => sum + page.open, 0)}
          choice={choice}
          isReading={goesOn && error === null}
          more={hasNextPage && !goesOn ? () => void fetchNextPage() : null}
          isReadingMore={isFetchingNextPage}
          onChoose={(changed) => move([days, changed])}
        />
      )}
    </Page>
  );
}

function Found({
  people,
  open,
  choice,
  isReading,
  more,
  isReadingMore,
  onChoose,
}: {
  readonly people: readonly Lost[];
  readonly open: number;
  readonly choice: LostChoice;
  readonly isReading: boolean;
  readonly more: (() => void) | null;
  readonly isReadingMore: boolean;
  readonly onChoose: (choice: LostChoice) => void;
}) {
  const [limit, setLimit] = useState(SHOWN_AT_ONCE);
  const chosen = chosenLost(people, choice);
  const isEmpty = people.length === 0 && !isReading && more === null;
  return (
    <>
      {!isEmpty && (
        <div className={styles.filters}>
          {LOST_FACETS.map((facet) => {
            const options = lostGroups(people, choice, facet);
            if (options.length < 2 && choice[facet] === undefined) return null;
            return (
              <Chips
                key={facet}
                label={words[facet]}
                all={words.all}
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
          ...(isEmpty ? [] : [words.count(chosen.length, people.length)]),
          ...(isReading ? [words.soFar] : []),
          ...(open > 0 ? [words.open(open)] : []),
        ].join(' ')}
      </p>
      {isEmpty ? (
        <EmptyState title={words.empty.title} text={words.empty.text} />
      ) : chosen.length === 0 && !isReading ? (
        <EmptyState title={words.noneChosen.title} text={words.noneChosen.text}>
          <Button onClick={() => onChoose({})}>{words.noneChosen.clear}</Button>
        </EmptyState>
      ) : (
        <LostTable people={chosen.slice(0, limit)} />
      )}
      {chosen.length > limit ? (
        <Button className={styles.more} onClick={() => setLimit(limit + SHOWN_AT_ONCE)}>
          {words.showMore}
        </Button>
      ) : (
        more !== null && (
          <Button className={styles.more} aria-busy={isReadingMore || undefined} onClick={more}>
            {words.more}
          </Button>
        )
      )}
    </>
  );
}

const COLUMNS: readonly Column<Lost>[] = [
  { id: 'asked', heading: words.columns.asked, cell: ({ askedAt }) => <DateTime at={askedAt} isShort /> },
  { id: 'person', heading: words.columns.person, isMain: true, cell: (one) => <Who lost={one} /> },
  { id: 'why', heading: words.columns.why, isLong: true, cell: (one) => <Why lost={one} /> },
  { id: 'platform', heading: words.columns.platform, cell: ({ platform }) => platform },
  {
    id: 'source',
    heading: words.columns.source,
    cell: ({ source }) => <span className={styles.source}>{source || parts.none}</span>,
  },
];

const LostTable = ({ people }: { readonly people: readonly Lost[] }) => (
  <Table caption={words.caption} columns={COLUMNS} rows={people} rowKey={({ id, email }) => id ?? email} />
);

function Who({ lost: { id, email, name, company } }: { readonly lost: Lost }) {
  const said = name || email;
  return (
    <>
      {id === null ? said : <Link href={addressOf('/person', { id })}>{said}</Link>}
      <span className={styles.under}>
        {[name === '' ? '' : email, company].filter((text) => text !== '').join(', ')}
      </span>
    </>
  );
}

function Why({ lost: { why, reply, codes, wrongTries } }: { readonly lost: Lost }) {
  const counts = [
    ...(codes > 1 ? [words.codes(codes)] : []),
    ...(wrongTries > 0 ? [words.wrongTries(wrongTries)] : []),
  ];
  return (
    <>
      {why}
      {counts.length > 0 && <span className={styles.counts}> ({counts.join(', ')})</span>}
      {reply !== null && <q className={styles.reply}>{reply}</q>}
    </>
  );
}

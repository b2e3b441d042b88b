import { useEffect, useRef, useState } from 'react';
import * as Popover from '@radix-ui/react-popover';

import type { Me } from '#desk/endpoints/auth.ts';
import { leadCount, type Filter } from '#desk/endpoints/people.ts';
import { ExportDialog } from '#desk/web/leads/export-dialog.tsx';
import { countFilters, filterIn, isCountable, leadsUrl, rememberFilter } from '#desk/web/leads/filter.ts';
import { FilterBar } from '#desk/web/leads/filter-bar.tsx';
import { AUTO_LOAD_LIMIT } from '#desk/web/leads/paging.ts';
import { PersonBlock, personColumns, type PersonColumn } from '#desk/web/leads/person-columns.tsx';
import { usePeopleList, type PeopleList } from '#desk/web/leads/use-people.ts';
import { useDeskQuery, useMayChange, useDeskUser, useTimeZone } from '#desk/web/queries.ts';
import { navigate, useLocation } from '#desk/web/router.tsx';
import { store, stored } from '#desk/web/stored.ts';
import { Button } from '#desk/web/ui/button.tsx';
import {
  counted,
  dateTime,
  NO_LEADS,
  PEOPLE_IN_STATE,
  number,
  people as countPeople,
} from '#desk/web/format.ts';
import { EmptyState, FailedState, Skeleton } from '#desk/web/ui/states.tsx';
import { Page } from '#desk/web/ui/page.tsx';
import { Table } from '#desk/web/ui/table.tsx';
import styles from '#desk/web/leads/leads.module.css';
import { DownloadIcon } from '#web/ui/icons.tsx';
import { ColumnsIcon } from '#desk/web/ui/icons.tsx';

export function Leads() {
  const { query } = useLocation();
  const filter = filterIn(query);
  const user = useDeskUser();
  const mayExport = useMayChange();
  const list = usePeopleList(filter);
  useEffect(() => rememberFilter(filter));
  const [isExporting, setExporting] = useState(false);
  const columns = personColumns(filter.state, user);
  const [hidden, setHidden] = useState(() => hiddenColumns(user.fields));
  const change = (next: (now: Filter) => Filter, isTyped: boolean) =>
    navigate(leadsUrl(next(filterIn(new URLSearchParams(location.search)))), { replace: isTyped });

  return (
    <Page
      title="Leads"
      actions={
        <>
          <ColumnMenu
            columns={columns.filter(({ isMain }) => !isMain)}
            hidden={hidden}
            onChange={(next) => {
              setHidden(next);
              store(HIDDEN_COLUMNS_KEY, [...next].join(' '));
            }}
          />
          {mayExport && (
            <Button onClick={() => setExporting(true)}>
              <DownloadIcon size={16} />
              Export
            </Button>
          )}
        </>
      }
    >
      <div className={`stack ${styles.list}`}>
        <FilterBar filter={filter} onChange={change} />
        <ListStatus list={list} filter={filter} />
        {list.people.length > 0 && (
          <Table
            caption={PEOPLE_IN_STATE[filter.state]}
            columns={columns.filter(({ id }) => !hidden.has(id))}
            rows={list.people}
            rowKey={({ id }) => id}
            renderBlock={(one) => <PersonBlock person={one} />}
            isStale={list.isStale}
          />
        )}
        {list.isPending && <Skeleton lines={10} />}
        {list.error && <FailedState error={list.error} onRetry={list.retry} />}
        {!list.isPending && !list.error && !list.hasMore && list.people.length === 0 && (
          <EmptyList filter={filter} />
        )}
        <ListEnd list={list} />
      </div>
      {isExporting && (
        <ExportDialog
          filter={filter}
          people={list.hasMore || list.isStale ? null : list.people.length}
          onClose={() => setExporting(false)}
        />
      )}
    </Page>
  );
}

const HIDDEN_COLUMNS_KEY = 'desk-leads-hidden';

/** IDs, as last chosen in this browser. */
const hiddenColumns = (fields: Me['fields']): ReadonlySet<string> =>
  new Set(
    stored(HIDDEN_COLUMNS_KEY)?.split(' ') ?? [
      'campaign',
      'variant',
      ...fields.map(({ id }) => `answer-${id}`),
    ],
  );

function ListStatus({ list, filter }: { readonly list: PeopleList; readonly filter: Filter }) {
  const { people, hasMore, searchedBackTo, isSearching, isStopped, isStale, isPending, wanted, error } = list;
  const timeZone = useTimeZone();
  const { from, to } = filter;
  const { data: count } = useDeskQuery(leadCount, { from, to }, { enabled: hasMore && isCountable(filter) });
  if (isPending || (people.length === 0 && error !== null)) return null;
  const isIncomplete = hasMore && people.length < wanted && !isStale;
  return (
    <div className={`row quiet small ${styles.state}`}>
      <p role="status">
        {describeShown(people.length, hasMore, isCountable(filter) && !isStale ? count?.verified : null)}
        {isIncomplete && searchedBackTo !== null && (
          <>
            {' '}
            Searched back to {dateTime(searchedBackTo, timeZone)}
            {isSearching ? ', still searching …' : '.'}
          </>
        )}
      </p>
      {isIncomplete ? (
        <Button look="text" onClick={() => list.setStopped(!isStopped)}>
          {isStopped ? 'Search further back' : 'Stop searching'}
        </Button>
      ) : (
        <Button look="text" onClick={list.refresh}>
          Refresh
        </Button>
      )}
    </div>
  );
}

function describeShown(count: number, hasMore: boolean, all: number | null | undefined): string {
  if (count === 0 && hasMore) return 'None found yet.';
  if (hasMore && all) return `${number(count)} of ${counted(Math.max(count, all), 'lead')}, newest first.`;
  return hasMore ? `${number(count)} shown, newest first.` : `${countPeople(count)}.`;
}

function ListEnd({
  list: { people, hasMore, wanted, isSearching, showMore },
}: {
  readonly list: PeopleList;
}) {
  const end = useRef<HTMLDivElement>(null);
  const isFull = hasMore && people.length >= wanted;
  const latestShowMore = useRef(showMore);
  useEffect(() => {
    latestShowMore.current = showMore;
  });
  useEffect(() => {
    if (!isFull || isSearching || people.length >= AUTO_LOAD_LIMIT || end.current === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) latestShowMore.current();
      },
      { rootMargin: '400px' },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [isFull, isSearching, people.length]);
  if (people.length === 0) return null;
  return (
    <div ref={end} className={`quiet small ${styles.end}`}>
      {isFull ? (
        <Button onClick={showMore}>Show more</Button>
      ) : (
        !hasMore && <p>{people.length > 20 && 'There are no more people.'}</p>
      )}
    </div>
  );
}

const NO_PEOPLE = {
  verified: NO_LEADS,
  suppressed: 'No lead is suppressed. All leads can get mail.',
  unverified: 'Everyone who asked for a code has entered it.',
  imported:
    'Nobody has been imported yet. To import people, run: npm run -s desk -- import FILE --consent-source "where they agreed"',
} as const;

function EmptyList({ filter }: { readonly filter: Filter }) {
  if (countFilters(filter) === 0) return <p className="quiet">{NO_PEOPLE[filter.state]}</p>;
  return (
    <EmptyState
      title="Nobody matches this filter"
      text="Search for a shorter part of the address, name or company, or remove a filter."
    />
  );
}

type MenuProps = {
  /** The columns that can be hidden, so not the person's name. */
  readonly columns: readonly PersonColumn[];
  readonly hidden: ReadonlySet<string>;
  readonly onChange: (hidden: ReadonlySet<string>) => void;
};

function ColumnMenu({ columns, hidden, onChange }: MenuProps) {
  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <Button>
          <ColumnsIcon size={16} />
          Columns
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className={`panel ${styles.menu}`}
          align="end"
          sideOffset={6}
          collisionPadding={8}
          aria-label="Columns"
        >
          {columns.map(({ id, heading }) => (
            <label key={id} className={styles.choice}>
              <input
                type="checkbox"
                checked={!hidden.has(id)}
                onChange={({ currentTarget: { checked } }) => {
                  const next = new Set(hidden);
                  if (checked) next.delete(id);
                  else next.add(id);
                  onChange(next);
                }}
              />
              {heading}
            </label>
          ))}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

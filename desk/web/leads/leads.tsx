import { useEffect, useRef, useState } from 'react';
import * as Popover from '@radix-ui/react-popover';

import type { Me } from '#desk/endpoints/auth.ts';
import { leadCount, type Filter } from '#desk/endpoints/people.ts';
import { ExportDialog } from '#desk/web/leads/export-dialog.tsx';
import { chosenParts, filterIn, isCountable, listAddress, rememberList } from '#desk/web/leads/filter.ts';
import { FilterBar } from '#desk/web/leads/filter-bar.tsx';
import { GROWS_TO } from '#desk/web/leads/paging.ts';
import { PersonBlock, personColumns, type PersonColumn } from '#desk/web/leads/person-columns.tsx';
import { usePeople, type PeopleList } from '#desk/web/leads/use-people.ts';
import { useAsk, useMayChange, usePerson, useTimeZone } from '#desk/web/queries.ts';
import { go, usePlace } from '#desk/web/router.tsx';
import { store, stored } from '#desk/web/stored.ts';
import { Button } from '#desk/web/ui/button.tsx';
import { counted, dateTime, PEOPLE_IN_STATE, number, people as countPeople } from '#desk/web/format.ts';
import { EmptyState, FailedState, Skeleton } from '#desk/web/ui/states.tsx';
import { Page } from '#desk/web/ui/page.tsx';
import { Table } from '#desk/web/ui/table.tsx';
import styles from '#desk/web/leads/leads.module.css';
import { DownloadIcon } from '#web/ui/icons.tsx';
import { ColumnsIcon } from '#desk/web/ui/icons.tsx';

export function Leads() {
  const { query } = usePlace();
  const filter = filterIn(query);
  const person = usePerson();
  const mayExport = useMayChange();
  const list = usePeople(filter);
  useEffect(() => rememberList(filter));
  const [isExporting, setExporting] = useState(false);
  const columns = personColumns(filter.state, person);
  const [hidden, setHidden] = useState(() => hiddenColumns(person.fields));
  const change = (next: (now: Filter) => Filter, isTyped: boolean) =>
    go(listAddress(next(filterIn(new URLSearchParams(location.search)))), { replace: isTyped });

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
              store(HIDDEN, [...next].join(' '));
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
        <State list={list} filter={filter} />
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
          <NoMatch filter={filter} />
        )}
        <End list={list} />
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

/** Key in the browser's storage. */
const HIDDEN = 'desk-leads-hidden';

/** IDs, as last chosen in this browser. */
const hiddenColumns = (fields: Me['fields']): ReadonlySet<string> =>
  new Set(stored(HIDDEN)?.split(' ') ?? ['campaign', 'variant', ...fields.map(({ id }) => `answer-${id}`)]);

function State({ list, filter }: { readonly list: PeopleList; readonly filter: Filter }) {
  const { people, hasMore, lookedBackTo, isLooking, isStopped, isStale, isPending, wanted } = list;
  const timeZone = useTimeZone();
  const { from, to } = filter;
  const { data: count } = useAsk(leadCount, { from, to }, { enabled: hasMore && isCountable(filter) });
  if (isPending || (people.length === 0 && !hasMore)) return null;
  const isSearching = hasMore && people.length < wanted && !isStale;
  return (
    <div className={`row quiet small ${styles.state}`}>
      <p role="status">
        {shownInWords(people.length, hasMore, isCountable(filter) && !isStale ? count?.verified : null)}
        {isSearching && lookedBackTo !== null && (
          <>
            {' '}
            Searched back to {dateTime(lookedBackTo, timeZone)}
            {isLooking ? ', still searching …' : '.'}
          </>
        )}
      </p>
      {isSearching ? (
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

function shownInWords(count: number, hasMore: boolean, all: number | null | undefined): string {
  if (count === 0) return 'None found yet.';
  if (hasMore && all) return `${number(count)} of ${counted(Math.max(count, all), 'lead')}, newest first.`;
  return hasMore ? `${number(count)} shown, newest first.` : `${countPeople(count)}.`;
}

function End({ list: { people, hasMore, wanted, isLooking, wantMore } }: { readonly list: PeopleList }) {
  const end = useRef<HTMLDivElement>(null);
  const isFull = hasMore && people.length >= wanted;
  const more = useRef(wantMore);
  useEffect(() => {
    more.current = wantMore;
  });
  useEffect(() => {
    if (!isFull || isLooking || people.length >= GROWS_TO || end.current === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) more.current();
      },
      { rootMargin: '400px' },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [isFull, isLooking, people.length]);
  if (people.length === 0) return null;
  return (
    <div ref={end} className={`quiet small ${styles.end}`}>
      {isFull ? (
        <Button onClick={wantMore}>Show more</Button>
      ) : (
        !hasMore && <p>{people.length > 20 && 'There are no more people.'}</p>
      )}
    </div>
  );
}

const NO_PEOPLE = {
  verified: 'The first lead will appear here when a visitor enters a code.',
  suppressed: 'No lead is suppressed. All leads can get mail.',
  unverified: 'Everyone who asked for a code has entered it.',
  imported:
    'Nobody has been imported yet. To import people, run: npm run -s desk -- import FILE --consent-source "where they agreed"',
} as const;

function NoMatch({ filter }: { readonly filter: Filter }) {
  if (chosenParts(filter) === 0) return <p className="quiet">{NO_PEOPLE[filter.state]}</p>;
  return (
    <EmptyState
      title="Nobody matches this filter"
      text="Search for a shorter part of the address, name or company, or remove a filter."
    />
  );
}

type MenuProps = {
  /** All columns that can be hidden; the one that names the person is missing. */
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

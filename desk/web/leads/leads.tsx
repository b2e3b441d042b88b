import { useEffect, useMemo, useRef, useState } from 'react';

import type { Filter } from '#desk/endpoints/people.ts';
import { ColumnMenu } from '#desk/web/leads/column-menu.tsx';
import { ExportDialog } from '#desk/web/leads/export-dialog.tsx';
import { chosenParts, filterIn, listAddress } from '#desk/web/leads/filter.ts';
import { FilterBar } from '#desk/web/leads/filter-bar.tsx';
import { keepHidden, readHidden } from '#desk/web/leads/kept-columns.ts';
import { GROWS_TO } from '#desk/web/leads/paging.ts';
import { personColumns, usuallyHidden } from '#desk/web/leads/person-columns.tsx';
import { usePeople, type PeopleList } from '#desk/web/leads/use-people.ts';
import { useMayChange, usePerson } from '#desk/web/person.ts';
import { go, usePlace } from '#desk/web/router.ts';
import { Button } from '#desk/web/ui/button.tsx';
import { dateTime } from '#desk/web/ui/dates.ts';
import { EmptyState } from '#desk/web/ui/empty-state.tsx';
import { FailedState } from '#desk/web/ui/failed-state.tsx';
import { Page } from '#desk/web/ui/page.tsx';
import { Skeleton } from '#desk/web/ui/skeleton.tsx';
import { Table } from '#desk/web/ui/table.tsx';
import { leads as words, pages, states } from '#desk/web/words.ts';
import styles from '#desk/web/leads/leads.module.css';
import { DownloadIcon } from '#web/ui/icons.tsx';

export function Leads() {
  const { query } = usePlace();
  const filter = filterIn(query);
  const { fields, variants } = usePerson();
  const mayExport = useMayChange();
  const list = usePeople(filter);
  const [isExporting, setExporting] = useState(false);
  const columns = useMemo(
    () => personColumns(filter.state, { fields, variants }),
    [filter.state, fields, variants],
  );
  const [hidden, setHidden] = useState(() => readHidden(() => localStorage, usuallyHidden({ fields })));
  const change = (next: (now: Filter) => Filter, isTyped: boolean) =>
    go(listAddress(next(filterIn(new URLSearchParams(location.search)))), { replace: isTyped });

  return (
    <Page
      title={pages.leads}
      actions={
        <>
          <ColumnMenu
            columns={columns.filter(({ isMain }) => !isMain)}
            hidden={hidden}
            onChange={(next) => {
              setHidden(next);
              keepHidden(() => localStorage, next);
            }}
          />
          {mayExport && (
            <Button onClick={() => setExporting(true)}>
              <DownloadIcon size={16} />
              {words.export}
            </Button>
          )}
        </>
      }
    >
      <div className={styles.list}>
        <FilterBar filter={filter} onChange={change} />
        <State list={list} />
        {list.people.length > 0 && (
          <Table
            caption={states[filter.state].many}
            columns={columns}
            rows={list.people}
            rowKey={({ id }) => id}
            hidden={hidden}
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
      {mayExport && <ExportDialog filter={filter} open={isExporting} onOpenChange={setExporting} />}
    </Page>
  );
}

function State({ list }: { readonly list: PeopleList }) {
  const { people, hasMore, lookedBackTo, isLooking, isStopped, isStale, isPending, wanted } = list;
  if (isPending || (people.length === 0 && !hasMore)) return null;
  const isSearching = hasMore && people.length < wanted && !isStale;
  return (
    <div className={styles.state}>
      <p role="status">
        {words.shown(people.length, hasMore)}
        {isSearching && lookedBackTo !== null && (
          <> {(isLooking ? words.looking : words.looked)(dateTime(lookedBackTo))}</>
        )}
      </p>
      {isSearching && !isStopped && (
        <Button look="text" onClick={list.stop}>
          {words.stop}
        </Button>
      )}
      {isSearching && isStopped && (
        <Button look="text" onClick={list.goOn}>
          {words.goOn}
        </Button>
      )}
      {!isSearching && (
        <Button look="text" onClick={list.refresh}>
          {words.refresh}
        </Button>
      )}
    </div>
  );
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
    <div ref={end} className={styles.end}>
      {isFull ? (
        <Button onClick={wantMore}>{words.more}</Button>
      ) : (
        !hasMore && <p>{words.allShown(people.length)}</p>
      )}
    </div>
  );
}

function NoMatch({ filter }: { readonly filter: Filter }) {
  if (chosenParts(filter) === 0) return <EmptyState text={words.none[filter.state]} />;
  return <EmptyState title={words.noMatch} text={words.noMatchText} />;
}

import { keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';

import { people, type Filter, type PeoplePage } from '#desk/endpoints/people.ts';
import { lastFilter, leadsUrl } from '#desk/web/leads/filter.ts';
import {
  needsNextPage,
  mergePages,
  neighboursOf,
  PAGE_STEP,
  type Listed,
  type Neighbours,
} from '#desk/web/leads/paging.ts';
import { pagesQuery, retry, useFetchNextPages } from '#desk/web/queries.ts';

export type PeopleList = Listed & {
  readonly wanted: number;
  readonly error: Error | null;
  readonly isPending: boolean;
  /** True if the rows belong to the previous filter. */
  readonly isStale: boolean;
  readonly isSearching: boolean;
  readonly isStopped: boolean;
  readonly setStopped: (isStopped: boolean) => void;
  readonly showMore: () => void;
  readonly retry: () => void;
  readonly refresh: () => void;
};

const selectListed = ({ pages }: { readonly pages: readonly PeoplePage[] }): Listed => mergePages(pages);
const EMPTY = mergePages([]);

// Never stale, because long lists are reloaded only by a button.
const listQuery = (filter: Filter) => ({
  ...pagesQuery(people, filter),
  select: selectListed,
  staleTime: Infinity,
});

/** @returns null unless the person is in the latest list */
export function useNeighbours(id: string): Neighbours | null {
  const [filter] = useState(lastFilter);
  // Only reads the pages of the list, and loads another one after its last person.
  const result = useInfiniteQuery({ ...listQuery(filter), enabled: false });
  const { data = EMPTY, error, hasNextPage, isFetching, fetchNextPage } = result;
  const found = neighboursOf(data.people, id);
  const isWanted = found !== null && found.next === undefined && hasNextPage && error === null;
  // Once per person, because a search that finds nobody else would read the whole table.
  const requestedFor = useRef('');
  useEffect(() => {
    if (!isWanted || isFetching || requestedFor.current === id) return;
    requestedFor.current = id;
    void fetchNextPage();
  }, [isWanted, isFetching, fetchNextPage, id]);
  return found;
}

type Paging = { readonly url: string; readonly count: number; readonly isStopped: boolean };

export function usePeopleList(filter: Filter): PeopleList {
  const url = leadsUrl(filter);
  const client = useQueryClient();
  const { queryKey } = listQuery(filter);
  const first: Paging = { url, count: PAGE_STEP, isStopped: false };
  const [stored, setPaging] = useState(first);
  const paging = stored.url === url ? stored : first;
  const result = useInfiniteQuery({ ...listQuery(filter), placeholderData: keepPreviousData });
  const { data: listed = EMPTY, error, isPending, isPlaceholderData, isFetching } = result;
  const isWanted =
    !paging.isStopped && !isPlaceholderData && error === null && needsNextPage(listed, paging.count);
  useFetchNextPages(result, isWanted);
  return {
    ...listed,
    wanted: paging.count,
    error,
    // Without people, the previous list has nothing to show meanwhile.
    isPending: isPending || (isPlaceholderData && listed.people.length === 0),
    isStale: isPlaceholderData,
    isSearching: isFetching || isWanted,
    isStopped: paging.isStopped,
    setStopped: (isStopped) => setPaging({ ...paging, isStopped }),
    showMore: () => setPaging({ ...paging, count: listed.people.length + PAGE_STEP, isStopped: false }),
    retry: () => retry(result),
    refresh: () => {
      setPaging(first);
      void client.resetQueries({ queryKey });
    },
  };
}

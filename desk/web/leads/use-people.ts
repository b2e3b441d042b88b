import { keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';

import { people, type Filter, type PeoplePage } from '#desk/endpoints/people.ts';
import { lastFilter, listAddress } from '#desk/web/leads/filter.ts';
import {
  goesOn,
  listedIn,
  neighboursOf,
  STEP,
  type Listed,
  type Neighbours,
} from '#desk/web/leads/paging.ts';
import { pagesQuery, retry, useReadOn } from '#desk/web/queries.ts';

export type PeopleList = Listed & {
  readonly wanted: number;
  readonly error: Error | null;
  readonly isPending: boolean;
  /** True if the rows belong to the previous filter. */
  readonly isStale: boolean;
  readonly isLooking: boolean;
  readonly isStopped: boolean;
  readonly setStopped: (isStopped: boolean) => void;
  readonly wantMore: () => void;
  readonly retry: () => void;
  readonly refresh: () => void;
};

const listedOf = ({ pages }: { readonly pages: readonly PeoplePage[] }): Listed => listedIn(pages);
const NOTHING = listedIn([]);

// Never stale, because long lists are reloaded only by a button.
const listQuery = (filter: Filter) => ({
  ...pagesQuery(people, filter),
  select: listedOf,
  staleTime: Infinity,
});

/** @returns null unless the person is in the latest list */
export function useNeighbours(id: string): Neighbours | null {
  const [filter] = useState(lastFilter);
  // Only reads the pages of the list, and loads another one after its last person.
  const asked = useInfiniteQuery({ ...listQuery(filter), enabled: false });
  const { data = NOTHING, error, hasNextPage, isFetching, fetchNextPage } = asked;
  const found = neighboursOf(data.people, id);
  const isDue = found !== null && found.next === undefined && hasNextPage && error === null;
  // Once per person, because a search that finds nobody else would read the whole table.
  const askedFor = useRef('');
  useEffect(() => {
    if (!isDue || isFetching || askedFor.current === id) return;
    askedFor.current = id;
    void fetchNextPage();
  }, [isDue, isFetching, fetchNextPage, id]);
  return found;
}

type Wish = { readonly of: string; readonly count: number; readonly isStopped: boolean };

export function usePeople(filter: Filter): PeopleList {
  const of = listAddress(filter);
  const client = useQueryClient();
  const { queryKey } = listQuery(filter);
  const first: Wish = { of, count: STEP, isStopped: false };
  const [kept, setWish] = useState(first);
  const wish = kept.of === of ? kept : first;
  const asked = useInfiniteQuery({ ...listQuery(filter), placeholderData: keepPreviousData });
  const { data: listed = NOTHING, error, isPending, isPlaceholderData, isFetching } = asked;
  const isDue = !wish.isStopped && !isPlaceholderData && error === null && goesOn(listed, wish.count);
  useReadOn(asked, isDue);
  return {
    ...listed,
    wanted: wish.count,
    error,
    isPending,
    isStale: isPlaceholderData,
    isLooking: isFetching || isDue,
    isStopped: wish.isStopped,
    setStopped: (isStopped) => setWish({ ...wish, isStopped }),
    wantMore: () => setWish({ ...wish, count: listed.people.length + STEP, isStopped: false }),
    retry: () => retry(asked),
    refresh: () => {
      setWish(first);
      void client.resetQueries({ queryKey });
    },
  };
}

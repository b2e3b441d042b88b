// Lists that come a page at a time: the newest first, more on demand.
import { useInfiniteQuery, type InfiniteData, type UseInfiniteQueryResult } from '@tanstack/react-query';

import type { Call } from '#desk/endpoints/endpoint.ts';
import { ask } from '#desk/web/ask.ts';
import { keyOf } from '#desk/web/queries.ts';

type Paged = { readonly next: string | null };

/** Asks a call that answers a page at a time (`after`, `next`), and keeps its pages in order. */
export function usePagesOf<What extends { readonly after?: string | undefined }, Answered extends Paged>(
  call: Call<What, Answered>,
  asked: Omit<What, 'after'>,
): UseInfiniteQueryResult<InfiniteData<Answered>> {
  return useInfiniteQuery({
    queryKey: keyOf(call, asked),
    queryFn: ({ pageParam, signal }) =>
      ask(call, { ...asked, ...(pageParam !== null && { after: pageParam }) } as What, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }: Answered) => next,
  });
}

/**
 * Asks again for what failed: the page that was to come, or the pages that are there. Asking for the next page where there is none
 * would succeed without a request, and old pages would pass for new ones.
 */
export const retry = ({
  isFetchNextPageError,
  fetchNextPage,
  refetch,
}: Pick<UseInfiniteQueryResult, 'isFetchNextPageError' | 'fetchNextPage' | 'refetch'>): void =>
  void (isFetchNextPageError ? fetchNextPage() : refetch());

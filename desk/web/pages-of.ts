import { useInfiniteQuery, type InfiniteData, type UseInfiniteQueryResult } from '@tanstack/react-query';

import type { Call } from '#desk/endpoints/endpoint.ts';
import { ask } from '#desk/web/ask.ts';
import { keyOf } from '#desk/web/queries.ts';

type Paged = { readonly next: string | null };

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
 * Retries the failed page, or all pages if the refresh failed. Asking for a next page that does not exist would succeed without a request.
 */
export const retry = ({
  isFetchNextPageError,
  fetchNextPage,
  refetch,
}: Pick<UseInfiniteQueryResult, 'isFetchNextPageError' | 'fetchNextPage' | 'refetch'>): void =>
  void (isFetchNextPageError ? fetchNextPage() : refetch());

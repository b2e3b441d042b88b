// Wraps the desk's endpoints in TanStack queries, cached briefly and without retries. A response that the session has ended shows
// the sign-in page.
import {
  QueryCache,
  MutationCache,
  QueryClient,
  type QueryFunctionContext,
  useMutation,
  useQuery,
  useQueryClient,
  type UseMutationResult,
  type UseQueryResult,
  infiniteQueryOptions,
  useInfiniteQuery,
  type UseInfiniteQueryResult,
  type keepPreviousData,
} from '@tanstack/react-query';
import { createContext, use, useEffect, useRef } from 'react';

import type { Endpoint } from '#desk/endpoints/endpoint.ts';
import { me, type Me } from '#desk/endpoints/auth.ts';
import { ApiError, callApi, isSignedOut } from '#desk/web/api-client.ts';
import { openFile } from '#desk/web/file.ts';
import { useNotice } from '#desk/web/ui/notice.tsx';

/** Fresh pages are not reloaded; older ones reload in the background. */
const FRESH_MS = 15_000;

export const keyOf = (endpoint: Pick<Endpoint<never, unknown>, 'path'>, input: object = {}) =>
  [endpoint.path, input] as const;
const ME = keyOf(me);

export function createQueryClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (isSignedOut(error)) forgetDeskUser(client);
      },
    }),
    mutationCache: new MutationCache({
      onError: (error, _input, _onMutateResult, { meta }) => {
        // A failed sign-in does not end a session.
        if (isSignedOut(error) && meta?.['needs'] !== null) forgetDeskUser(client);
      },
    }),
    defaultOptions: {
      queries: { networkMode: 'always', retry: false, refetchOnWindowFocus: false, staleTime: FRESH_MS },
      mutations: { networkMode: 'always', retry: false },
    },
  });
  return client;
}

export function forgetDeskUser(client: QueryClient): void {
  client.setQueryData(ME, null);
  forgetQueries(client);
}

const forgetQueries = (client: QueryClient): void =>
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== ME[0] });

/** Cancels earlier requests, which could still report that nobody is signed in. */
export async function reloadDeskUser(client: QueryClient): Promise<void> {
  await client.cancelQueries({ queryKey: ME });
  await client.fetchQuery({ ...meQuery, staleTime: 0 });
}

/** Returns a function to call after a sign-in. */
export function useReloadDeskUser(onSignedIn: () => void): () => void {
  const client = useQueryClient();
  const { showNotice } = useNotice();
  return () =>
    void reloadDeskUser(client).then(onSignedIn, ({ message }: Error) => showNotice(message, 'problem'));
}

const meQuery = {
  queryKey: ME,
  queryFn: async ({ client, signal }: QueryFunctionContext): Promise<Me | null> => {
    const user = await callApi(me, {}, signal).catch((error: unknown) => {
      if (isSignedOut(error)) return null;
      throw error;
    });
    if (user?.email !== client.getQueryData<Me | null>(ME)?.email) forgetQueries(client);
    return user;
  },
  staleTime: Infinity,
  // Someone else may have signed in using another tab.
  refetchOnWindowFocus: 'always' as const,
};

/** The data is null if nobody is signed in. */
export const useCurrentUser = (): UseQueryResult<Me | null> => useQuery(meQuery);

type QueryOptions = {
  readonly enabled?: boolean;
  readonly refetchOnWindowFocus?: boolean;
  readonly placeholderData?: typeof keepPreviousData;
};

export function useDeskQuery<Input extends object, Output>(
  endpoint: Endpoint<Input, Output>,
  input: Input,
  options: QueryOptions = {},
): UseQueryResult<Output> {
  return useQuery<Output>({
    queryKey: keyOf(endpoint, input),
    queryFn: ({ signal }) => callApi(endpoint, input, signal),
    ...options,
  });
}

export function useDeskMutation<Input extends object, Output>(
  endpoint: Endpoint<Input, Output>,
  stale: readonly { readonly path: string }[] = [],
): UseMutationResult<Output, Error, Input> {
  const client = useQueryClient();
  const refresh = () => Promise.all(stale.map(({ path }) => client.invalidateQueries({ queryKey: [path] })));
  return useMutation<Output, Error, Input>({
    mutationFn: (input) => callApi(endpoint, input),
    meta: { needs: endpoint.needs },
    onSuccess: refresh,
    // The shown data may be older than the refusal.
    onError: (error) => {
      if (error instanceof ApiError && error.code === 'cannot-be-done') void refresh();
    },
  });
}

type Paged = { readonly next: string | null };

type After = { readonly after?: string | undefined };

export const pagesQuery = <Input extends After, Output extends Paged>(
  endpoint: Endpoint<Input, Output>,
  input: Omit<Input, 'after'>,
) =>
  infiniteQueryOptions({
    queryKey: keyOf(endpoint, input),
    queryFn: ({ pageParam, signal }) =>
      callApi(endpoint, { ...input, ...(pageParam !== null && { after: pageParam }) } as Input, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }: Output) => next,
  });

export const useDeskPages = <Input extends After, Output extends Paged>(
  endpoint: Endpoint<Input, Output>,
  input: Omit<Input, 'after'>,
): UseInfiniteQueryResult<readonly Output[]> =>
  useInfiniteQuery({ ...pagesQuery(endpoint, input), select: ({ pages }) => pages });

/** Fetches one page after another while `isWanted`. */
export function useFetchNextPages(
  { isFetching, fetchNextPage }: Pick<UseInfiniteQueryResult, 'isFetching' | 'fetchNextPage'>,
  isWanted: boolean,
): void {
  useEffect(() => {
    if (isWanted && !isFetching) void fetchNextPage();
  }, [isWanted, isFetching, fetchNextPage]);
}

export type Retryable = Pick<UseQueryResult, 'refetch'> &
  Partial<Pick<UseInfiniteQueryResult, 'isFetchNextPageError' | 'fetchNextPage'>>;

/**
 * Retries the failed page, or all pages if the refresh failed. Requesting a next page that does not exist would succeed without a
 * request.
 */
export const retry = ({ isFetchNextPageError, fetchNextPage, refetch }: Retryable): void =>
  void (isFetchNextPageError ? fetchNextPage?.() : refetch());

export function useOpenFile(...file: Parameters<typeof openFile>): UseMutationResult<void> {
  const { showNotice } = useNotice();
  return useMutation({
    mutationFn: () => openFile(...file),
    onError: ({ message }) => showNotice(message, 'problem'),
  });
}

/** Returns a function that creates a signal for one request. It is aborted when the component unmounts. */
export function useAbortSignal(): () => AbortSignal {
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);
  return () => {
    running.current = new AbortController();
    return running.current.signal;
  };
}

export const DeskUserContext = createContext<Me | null>(null);

/** Only for pages that require a sign-in. */
export function useDeskUser(): Me {
  const user = use(DeskUserContext);
  if (user === null) throw new Error('Nobody is signed in.');
  return user;
}

/** Not the browser's, so that the same day means the same in the report, in commands and here. */
export const useTimeZone = (): string => useDeskUser().timeZone;

export const useMayChange = (): boolean => useDeskUser().role === 'all';

// Endpoints as TanStack queries, cached briefly and without retries. After a session has ended, the user must sign in again.
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

import type { Call } from '#desk/endpoints/endpoint.ts';
import { me, type Me } from '#desk/endpoints/auth.ts';
import { ask, isSignedOut } from '#desk/web/ask.ts';
import { openFile } from '#desk/web/file.ts';
import { useNotice } from '#desk/web/ui/notice.tsx';

/** Fresh pages are not reloaded; older ones reload in the background. */
const FRESH_MS = 15_000;

export const keyOf = (call: Pick<Call<never, unknown>, 'path'>, asked: object = {}) =>
  [call.path, asked] as const;
const ME = keyOf(me);

export function createQueryClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (isSignedOut(error)) forgetPerson(client);
      },
    }),
    mutationCache: new MutationCache({
      onError: (error, _asked, _result, { meta }) => {
        // A failed sign-in does not end a session.
        if (isSignedOut(error) && meta?.['needs'] !== null) forgetPerson(client);
      },
    }),
    defaultOptions: {
      queries: { networkMode: 'always', retry: false, refetchOnWindowFocus: false, staleTime: FRESH_MS },
      mutations: { networkMode: 'always', retry: false },
    },
  });
  return client;
}

export function forgetPerson(client: QueryClient): void {
  client.setQueryData(ME, null);
  forgetPages(client);
}

const forgetPages = (client: QueryClient): void =>
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== ME[0] });

/** Cancels earlier requests, which could still report that nobody is signed in. */
export async function meetPerson(client: QueryClient): Promise<void> {
  await client.cancelQueries({ queryKey: ME });
  await client.fetchQuery({ ...meQuery, staleTime: 0 });
}

/** Returns the function to call once the server has accepted a code or a link. */
export function useMeetPerson(onIn: () => void): () => void {
  const client = useQueryClient();
  const { say } = useNotice();
  return () => void meetPerson(client).then(onIn, ({ message }: Error) => say(message, 'problem'));
}

const meQuery = {
  queryKey: ME,
  queryFn: async ({ client, signal }: QueryFunctionContext): Promise<Me | null> => {
    const person = await ask(me, {}, signal).catch((error: unknown) => {
      if (isSignedOut(error)) return null;
      throw error;
    });
    if (person?.email !== client.getQueryData<Me | null>(ME)?.email) forgetPages(client);
    return person;
  },
  staleTime: Infinity,
  // Someone else may have signed in using another tab.
  refetchOnWindowFocus: 'always' as const,
};

export const useWhoIsIn = (): UseQueryResult<Me | null> => useQuery(meQuery);

type AskOptions = {
  readonly enabled?: boolean;
  readonly refetchOnWindowFocus?: boolean;
  readonly placeholderData?: typeof keepPreviousData;
};

export function useAsk<What extends object, Answered>(
  call: Call<What, Answered>,
  asked: What,
  options: AskOptions = {},
): UseQueryResult<Answered> {
  return useQuery<Answered>({
    queryKey: keyOf(call, asked),
    queryFn: ({ signal }) => ask(call, asked, signal),
    ...options,
  });
}

export function useSend<What extends object, Answered>(
  call: Call<What, Answered>,
  stale: readonly { readonly path: string }[] = [],
): UseMutationResult<Answered, Error, What> {
  const client = useQueryClient();
  return useMutation<Answered, Error, What>({
    mutationFn: (asked) => ask(call, asked),
    meta: { needs: call.needs },
    onSuccess: () => Promise.all(stale.map(({ path }) => client.invalidateQueries({ queryKey: [path] }))),
  });
}

type Paged = { readonly next: string | null };

type After = { readonly after?: string | undefined };

export const pagesQuery = <What extends After, Answered extends Paged>(
  call: Call<What, Answered>,
  asked: Omit<What, 'after'>,
) =>
  infiniteQueryOptions({
    queryKey: keyOf(call, asked),
    queryFn: ({ pageParam, signal }) =>
      ask(call, { ...asked, ...(pageParam !== null && { after: pageParam }) } as What, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }: Answered) => next,
  });

export const usePagesOf = <What extends After, Answered extends Paged>(
  call: Call<What, Answered>,
  asked: Omit<What, 'after'>,
): UseInfiniteQueryResult<readonly Answered[]> =>
  useInfiniteQuery({ ...pagesQuery(call, asked), select: ({ pages }) => pages });

/** Requests one page after another while `isDue`. */
export function useReadOn(
  { isFetching, fetchNextPage }: Pick<UseInfiniteQueryResult, 'isFetching' | 'fetchNextPage'>,
  isDue: boolean,
): void {
  useEffect(() => {
    if (isDue && !isFetching) void fetchNextPage();
  }, [isDue, isFetching, fetchNextPage]);
}

export type Retried = Pick<UseQueryResult, 'refetch'> &
  Partial<Pick<UseInfiniteQueryResult, 'isFetchNextPageError' | 'fetchNextPage'>>;

/**
 * Retries the failed page, or all pages if the refresh failed. Requesting a next page that does not exist would succeed without a request.
 */
export const retry = ({ isFetchNextPageError, fetchNextPage, refetch }: Retried): void =>
  void (isFetchNextPageError ? fetchNextPage?.() : refetch());

export function useFile(...file: Parameters<typeof openFile>): UseMutationResult<void> {
  const { say } = useNotice();
  return useMutation({
    mutationFn: () => openFile(...file),
    onError: ({ message }) => say(message, 'problem'),
  });
}

/** Returns a function that makes a signal for one request, which is aborted once the component is unmounted. */
export function useSignal(): () => AbortSignal {
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);
  return () => {
    running.current = new AbortController();
    return running.current.signal;
  };
}

export const PersonContext = createContext<Me | null>(null);

export function usePerson(): Me {
  const person = use(PersonContext);
  if (person === null) throw new Error('Nobody is signed in.');
  return person;
}

/** Not the browser's, so that the same day means the same in the report, in commands and here. */
export const useTimeZone = (): string => usePerson().timeZone;

export const useMayChange = (): boolean => usePerson().role === 'all';

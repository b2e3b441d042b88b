// How calls become TanStack queries: kept for a moment, never repeated by themselves, and an ended session leads to signing in.
import {
  QueryCache,
  MutationCache,
  QueryClient,
  useMutation,
  useQuery,
  useQueryClient,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query';

import type { Call } from '#desk/endpoints/endpoint.ts';
import { me, type Me } from '#desk/endpoints/auth.ts';
import { ask, isSignedOut } from '#desk/web/ask.ts';

/** Going back to a page within this time shows what it showed; later it is asked again behind what is shown. */
const FRESH_MS = 15_000;

export const keyOf = (call: Pick<Call<never, unknown>, 'path'>, asked: object = {}) =>
  [call.path, asked] as const;
const ME = keyOf(me);

/** A client whose failed calls sign the person out when the session is over. */
export function createQueryClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (isSignedOut(error)) forgetPerson(client);
      },
    }),
    mutationCache: new MutationCache({
      onError: (error, _asked, _result, { meta }) => {
        // A refusal to come in says nothing about who is in.
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

/** Takes everything off the screen and out of memory that only a person who is signed in may see. */
export function forgetPerson(client: QueryClient): void {
  client.setQueryData(ME, null);
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== ME[0] });
}

/** After signing in: asks who it is. What was asked before that, and may still be answered, would say that no one is in. */
export async function meetPerson(client: QueryClient): Promise<void> {
  await client.cancelQueries({ queryKey: ME });
  await client.fetchQuery({ ...meQuery, staleTime: 0 });
}

const meQuery = {
  queryKey: ME,
  queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<Me | null> => {
    try {
      return await ask(me, {}, signal);
    } catch (error) {
      if (isSignedOut(error)) return null;
      throw error;
    }
  },
  staleTime: Infinity,
  // Another tab may have signed someone else in.
  refetchOnWindowFocus: 'always' as const,
};

/** Who is signed in; null for a person who is not. */
export const useWhoIsIn = (): UseQueryResult<Me | null> => useQuery(meQuery);

type AskOptions = {
  /** False: not asked yet. */
  readonly enabled?: boolean;
  /** Asked again when the reader comes back to the window. */
  readonly refetchOnWindowFocus?: boolean;
};

/** Asks a call that changes nothing, and keeps the answer. */
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

/**
 * Makes a call that changes something; the answers of `then` are asked for again after it.
 * @param stale calls whose answers it changes
 */
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

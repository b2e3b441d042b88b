// How calls behave (specification, section 7): no retries, no refetching, data never stale. Offline they fail at once: the
// library's own mode keeps them, and sends them when the visitor is long elsewhere.
import { QueryClient } from '@tanstack/react-query';

import { fetchByKey } from '#web/api-client.ts';

/** A client with the specification's options. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        queryFn: fetchByKey,
        networkMode: 'always',
        retry: false,
        refetchInterval: false,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        staleTime: Infinity,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  });
}

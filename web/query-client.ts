// How calls behave (specification, section 7): no retries, no refetching, data never stale.
import { QueryClient } from '@tanstack/react-query';

import { fetchByKey } from '#web/api-client.ts';

/** A client with the specification's options. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        queryFn: fetchByKey,
        retry: false,
        refetchInterval: false,
        refetchOnWindowFocus: false,
        staleTime: Infinity,
      },
      mutations: { retry: false },
    },
  });
}

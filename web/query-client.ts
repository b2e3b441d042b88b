// No retries, refetching or stale data (specification, section 7). Offline calls fail at once: by default, the library would send
// them after the visitor has left.
import { QueryClient } from '@tanstack/react-query';

import { fetchByKey } from '#web/api-client.ts';

export const queryClient = new QueryClient({
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

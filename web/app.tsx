import { QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore, type ReactNode } from 'react';

import { Home } from '#web/home.tsx';
import { LoadedTooltips } from '#web/later-stages/later-stage.tsx';
import { NotFound } from '#web/not-found.tsx';
import { queryClient } from '#web/query-client.ts';
import type { StageState } from '#web/stage.ts';
import { Toaster } from '#web/ui/toaster.tsx';
import { SITE_PATH } from '#web/site-path.ts';

export type AppProps = {
  readonly initial: StageState;
  readonly path: string;
  readonly onReady?: () => void;
};

export function App({ initial, path, onReady }: AppProps) {
  useEffect(() => onReady?.(), [onReady]);
  return (
    <QueryClientProvider client={queryClient}>
      {path === `${SITE_PATH}/` ? <Home initial={initial} /> : <NotFound />}
      <InBrowser>
        <Toaster />
        <LoadedTooltips />
      </InBrowser>
    </QueryClientProvider>
  );
}

/**
 * Renders its children only in a browser: the toast region sets a style attribute, which the Content-Security-Policy forbids in
 * prerendered HTML.
 */
function InBrowser({ children }: { readonly children: ReactNode }) {
  const inBrowser = useSyncExternalStore(
    () => () => {},
    () => true,
    () => false,
  );
  return inBrowser ? children : null;
}

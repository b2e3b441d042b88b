// The whole page: what every screen shares, and the one decision a router would make.
import { QueryClientProvider, type QueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore, type ReactNode } from 'react';

import { Home } from '#web/home.tsx';
import { LoadedTooltips } from '#web/later-stages/later-stage.tsx';
import { StaticMarkupContext, type StaticMarkup } from '#web/frame/static-part.tsx';
import { NotFound } from '#web/not-found.tsx';
import type { StageState } from '#web/stage.ts';
import type { ToastStore } from '#web/ui/toast-store.ts';
import { Toaster, ToastProvider } from '#web/ui/toaster.tsx';
import { SITE_PATH } from '#web/site-path.ts';

export type AppProps = {
  readonly queryClient: QueryClient;
  readonly toasts: ToastStore;
  readonly initial: StageState;
  /** The prerendered parts that never change; empty while prerendering. */
  readonly staticMarkup?: StaticMarkup | undefined;
  /** The path of the address: that of the page, or of anything else, which is the 404 page. */
  readonly path: string;
  /** Called once the page responds to its visitor. */
  readonly onReady?: () => void;
};

const NO_MARKUP: StaticMarkup = {};

/** The page. */
export function App({ queryClient, toasts, initial, staticMarkup, path, onReady }: AppProps) {
  useEffect(() => onReady?.(), [onReady]);
  return (
    <QueryClientProvider client={queryClient}>
      <ToastProvider store={toasts}>
        <StaticMarkupContext value={staticMarkup ?? NO_MARKUP}>
          {path === `${SITE_PATH}/` ? <Home initial={initial} /> : <NotFound />}
        </StaticMarkupContext>
        <InBrowser>
          <Toaster />
          <LoadedTooltips />
        </InBrowser>
      </ToastProvider>
    </QueryClientProvider>
  );
}

/**
 * Renders only in a browser, after the first paint: the notification region styles itself with an attribute, which
 * the Content-Security-Policy forbids in prerendered HTML.
 */
function InBrowser({ children }: { readonly children: ReactNode }) {
  const inBrowser = useSyncExternalStore(
    () => () => {},
    () => true,
    () => false,
  );
  return inBrowser ? children : null;
}

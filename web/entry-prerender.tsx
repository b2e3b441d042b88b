// Renders the pages that are served as HTML. Runs at build time only (build/build.ts).
import { prerender as prerenderApp } from 'react-dom/static';

import { App } from '#web/app.tsx';
import { createQueryClient } from '#web/query-client.ts';
import { INITIAL_STATE } from '#web/stage.ts';
import { createToastStore } from '#web/ui/toast-store.ts';

/** The markup of a path, to stand inside #root. */
export async function prerender(path: string): Promise<string> {
  const app = (
    <App queryClient={createQueryClient()} toasts={createToastStore()} initial={INITIAL_STATE} path={path} />
  );
  // Without this, React moves large parts to the end of the page, and an inline script puts them back.
  const { prelude } = await prerenderApp(app, { progressiveChunkSize: Infinity });
  return new Response(prelude).text();
}

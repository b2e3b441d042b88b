import { prerender as prerenderApp } from 'react-dom/static';

import { App } from '#web/app.tsx';
import { INITIAL_STATE } from '#web/stage.ts';

export async function prerender(path: string): Promise<string> {
  const app = <App initial={INITIAL_STATE} path={path} />;
  // Otherwise React moves large parts to the end of the page and restores them with an inline script.
  const { prelude } = await prerenderApp(app, { progressiveChunkSize: Infinity });
  return new Response(prelude).text();
}

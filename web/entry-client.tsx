// Brings the page to life. Loaded by the boot script (boot.ts) at the visitor's first sign of intent.
import { createRoot, hydrateRoot } from 'react-dom/client';

import { App } from '#web/app.tsx';
import { collectStaticMarkup } from '#web/landing/static-part.tsx';
import { createQueryClient } from '#web/query-client.ts';
import { adoptLateStyles } from '#web/styles/late.ts';
import { createToastStore } from '#web/ui/toast-store.ts';
import { initialStageState } from '#web/use-stage.ts';

/**
 * Starts the application on the prerendered page.
 * @returns once the page answers to its visitor
 */
export async function start(): Promise<void> {
  const root = document.getElementById('root');
  if (root === null) throw new Error('There is no #root to start in.');
  const staticMarkup = collectStaticMarkup(root);
  adoptLateStyles(document);
  const initial = await initialStageState();
  const landing = initial.stage === 'landing' && root.hasChildNodes();
  if (!landing) root.replaceChildren();
  // Before anything is shown: what is hidden cannot take the focus.
  delete document.documentElement.dataset['restoring'];

  await new Promise<void>((resolve) => {
    const app = (
      <App
        queryClient={createQueryClient()}
        toasts={createToastStore()}
        initial={initial}
        staticMarkup={staticMarkup}
        path={location.pathname}
        onReady={resolve}
      />
    );
    if (landing) {
      // A translation tool may have rewritten the page before; React then renders it anew, which is what we want.
      hydrateRoot(root, app, { onRecoverableError: () => {} });
    } else {
      createRoot(root).render(app);
    }
  });
}

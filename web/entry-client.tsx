// Brings the page to life. Loaded by the boot script (boot.ts) at the visitor's first sign of intent.
import { flushSync } from 'react-dom';
import { createRoot, hydrateRoot } from 'react-dom/client';

import { App } from '#web/app.tsx';
import { isAction, keepPlace } from '#web/landing/return-point.ts';
import { collectStaticMarkup } from '#web/frame/static-part.tsx';
import { loadLaterStages } from '#web/later-stages/load-later-stages.ts';
import { createQueryClient } from '#web/query-client.ts';
import { adoptStyles } from '#web/styles/adopt-styles.ts';
import { appStyles } from '#web/styles/app-styles.ts';
import { createToastStore } from '#web/ui/toast-store.ts';
import { formStageState, initialStageState } from '#web/use-stage.ts';
import { noteFirstTouch } from '#web/first-touch.ts';

/** How long a reload shows nothing while it waits for the second file. */
const LATER_STAGES_WITHIN_MS = 1_000;
/** A press that started the application has opened the form by then. */
const SETTLED_MS = 50;

/** Shows or hides the notice that the page has not come completely. */
const showFailure = (isShown: boolean) =>
  document.getElementById('load-failure')?.toggleAttribute('hidden', !isShown);

/**
 * Starts the application on the prerendered page.
 * @param pressed the button that was pressed meanwhile
 * @returns once the page answers to its visitor: whether that press has been answered
 */
export async function start(pressed?: HTMLButtonElement): Promise<boolean> {
  const root = document.getElementById('root');
  if (root === null) throw new Error('There is no #root to start in.');
  noteFirstTouch();
  const staticMarkup = collectStaticMarkup(root);
  adoptStyles(document, appStyles);
  let initial = initialStageState();
  // A reloaded code screen or article is in the second file. Where that takes long, a notice is better than nothing (later-stage.tsx).
  if (initial.stage === 'verification' || initial.stage === 'content') {
    await loadLaterStages(LATER_STAGES_WITHIN_MS);
    // The visitor may have gone back meanwhile.
    initial = initialStageState();
  }
  // A visitor who pressed for the form does not wait until the landing page is hydrated.
  const { name: action } = pressed ?? {};
  const opensForm = initial.stage === 'landing' && isAction(action);
  if (opensForm) {
    keepPlace({ action, top: pressed?.getBoundingClientRect().top ?? 0 });
    initial = formStageState();
  }
  const landing = initial.stage === 'landing' && root.hasChildNodes();
  // Before anything is shown: what is hidden cannot take the focus.
  delete document.documentElement.dataset['restoring'];

  // The notice of an earlier attempt.
  showFailure(false);
  // React takes away all that it has drawn.
  const onUncaughtError = (error: unknown) => {
    showFailure(true);
    reportError(error);
  };
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
      hydrateRoot(root, app, { onUncaughtError, onRecoverableError: () => {} });
    } else {
      // In the place of the landing page at once: there is no frame between the two.
      flushSync(() => createRoot(root, { onUncaughtError }).render(app));
    }
  });
  // When the form, if that was asked for, is painted and nothing else is to do.
  setTimeout(() => {
    void loadLaterStages();
    // The boot script's sign of life; most of these buttons are gone by now.
    for (const button of document.querySelectorAll('[aria-busy]')) button.ariaBusy = null;
  }, SETTLED_MS);
  return opensForm;
}

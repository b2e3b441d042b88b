// Loaded by boot.ts at the visitor's first sign of intent.
import { flushSync } from 'react-dom';
import { createRoot, hydrateRoot } from 'react-dom/client';

import { App } from '#web/app.tsx';
import { isPrerenderedAction, saveReturnPoint } from '#web/landing/return-point.ts';
import { collectStaticMarkup } from '#web/frame/static-part.tsx';
import { loadLaterStages } from '#web/later-stages/load-later-stages.ts';
import { adoptStyles } from '#web/styles/adopt-styles.ts';
import { appStyles } from '#web/styles/app-styles.ts';
import { openFormStage, initialStageState } from '#web/use-stage.ts';
import { noteFirstTouch } from '#web/first-touch.ts';

const LATER_STAGES_WITHIN_MS = 1_000;
const SETTLED_MS = 50;

const showFailure = (isShown: boolean) =>
  document.getElementById('load-failure')?.toggleAttribute('hidden', !isShown);

/** Resolves once the page responds to input, with true if the given press was handled. */
export async function start(pressed?: HTMLButtonElement): Promise<boolean> {
  const root = document.getElementById('root');
  if (root === null) throw new Error('There is no #root to start in.');
  noteFirstTouch();
  collectStaticMarkup(root);
  adoptStyles(appStyles);
  let initial = initialStageState();
  // Reloaded code screens and articles need the second file. If it is slow, a notice appears (later-stage.tsx).
  if (initial.stage === 'verification' || initial.stage === 'content') {
    await loadLaterStages(LATER_STAGES_WITHIN_MS);
    initial = initialStageState();
  }
  const { name: action } = pressed ?? {};
  const opensForm = initial.stage === 'landing' && isPrerenderedAction(action);
  if (opensForm) {
    saveReturnPoint({ action, top: pressed?.getBoundingClientRect().top ?? 0 });
    initial = openFormStage();
  }
  const landing = initial.stage === 'landing' && root.hasChildNodes();
  // Hidden elements cannot take the focus.
  delete document.documentElement.dataset['restoring'];

  showFailure(false);
  const onUncaughtError = (error: unknown) => {
    showFailure(true);
    reportError(error);
  };
  await new Promise<void>((resolve) => {
    const app = <App initial={initial} path={location.pathname} onReady={resolve} />;
    if (landing) {
      hydrateRoot(root, app, { onUncaughtError, onRecoverableError: () => {} });
    } else {
      // Synchronous, to avoid a blank frame.
      flushSync(() => createRoot(root, { onUncaughtError }).render(app));
    }
  });
  setTimeout(() => {
    void loadLaterStages();
    for (const button of document.querySelectorAll('[aria-busy]')) button.ariaBusy = null;
  }, SETTLED_MS);
  return opensForm;
}

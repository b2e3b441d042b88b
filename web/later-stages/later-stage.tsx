// A stage after the form, and what the visitor sees until the second file, which holds it, has loaded.
import { useEffect, type ReactNode } from 'react';

import { nextStep as words } from '#campaign/interface.yaml';
import { SiteFooter } from '#web/frame/site-footer.tsx';
import { SiteHeader } from '#web/frame/site-header.tsx';
import styles from '#web/later-stages/later-stage.module.css';
import { loadLaterStages, useLaterStages, type LaterStages } from '#web/later-stages/load-later-stages.ts';
import { Button } from '#web/ui/button.tsx';
import { useFocusOnMount } from '#web/ui/use-focus-on-mount.ts';

type LaterStageProps = {
  readonly onHome: () => void;
  /** The stage, from the second file. */
  readonly children: (module: Extract<LaterStages, { type: 'loaded' }>['module']) => ReactNode;
};

/** Shows a stage of the second file; until it has loaded, a notice, and a button once loading has failed. */
export function LaterStage({ onHome, children }: LaterStageProps) {
  const stages = useLaterStages();
  useEffect(() => void loadLaterStages(), []);
  return stages.type === 'loaded' ? (
    children(stages.module)
  ) : (
    <>
      <SiteHeader onHome={onHome} />
      <Waiting failed={stages.type === 'failed'} />
      <SiteFooter />
    </>
  );
}

/** Loads the second file once more. A server that no longer has it has a newer release: that page comes back to this stage. */
async function tryAgain(): Promise<void> {
  const { later = '' } = document.querySelector<HTMLElement>('script[data-later]')?.dataset ?? {};
  const answer = await fetch(later, { method: 'HEAD' }).catch(() => null);
  if (answer?.status === 404) location.reload();
  else await loadLaterStages();
}

function Waiting({ failed }: { readonly failed: boolean }) {
  const main = useFocusOnMount<HTMLElement>();
  return (
    <main ref={main} tabIndex={-1} className={styles.main}>
      <p role="status">{failed ? words.notLoaded : words.loading}</p>
      {failed && (
        <Button
          look="primary"
          onClick={() => {
            // The button disappears; its focus must not fall to the body.
            main.current?.focus({ preventScroll: true });
            void tryAgain();
          }}
        >
          {words.tryAgain}
        </Button>
      )}
    </main>
  );
}

/** The tooltips, as soon as the second file has loaded. */
export function LoadedTooltips() {
  const stages = useLaterStages();
  return stages.type === 'loaded' && <stages.module.Tooltips />;
}

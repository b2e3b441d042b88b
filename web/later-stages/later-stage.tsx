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
  readonly children: (module: Extract<LaterStages, { type: 'loaded' }>['module']) => ReactNode;
};

export function LaterStage({ onHome, children }: LaterStageProps) {
  const stages = useLaterStages();
  useEffect(() => void loadLaterStages(), []);
  return stages.type === 'loaded' ? (
    children(stages.module)
  ) : (
    <>
      <SiteHeader onHome={onHome} />
      <LoadNotice failed={stages.type === 'failed'} />
      <SiteFooter />
    </>
  );
}

/** If the server no longer has the file, it runs a newer release; reloading the page restores this stage. */
async function tryAgain(): Promise<void> {
  void loadLaterStages();
  const { later = '' } = document.querySelector<HTMLElement>('script[data-later]')?.dataset ?? {};
  const response = await fetch(later, { method: 'HEAD' }).catch(() => null);
  if (response?.status === 404) location.reload();
}

function LoadNotice({ failed }: { readonly failed: boolean }) {
  const main = useFocusOnMount<HTMLElement>();
  return (
    <main ref={main} tabIndex={-1} className={styles.main}>
      <p role="status">{failed ? words.notLoaded : words.loading}</p>
      {failed && (
        <Button
          look="primary"
          onClick={() => {
            // The button disappears and would lose the focus.
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

export function LoadedTooltips() {
  const stages = useLaterStages();
  return stages.type === 'loaded' && <stages.module.Tooltips />;
}

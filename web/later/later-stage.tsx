// What stands in the place of the second file (later.ts) until it is there.
import { useEffect, type ReactNode } from 'react';

import { nextStep as words } from '#campaign/interface.yaml';
import { SiteFooter } from '#web/frame/site-footer.tsx';
import { SiteHeader } from '#web/frame/site-header.tsx';
import styles from '#web/later/later-stage.module.css';
import { askForLater, useLater, type Later } from '#web/later/load-later.ts';
import { Button } from '#web/ui/button.tsx';
import { useFocusOnMount } from '#web/ui/use-focus-on-mount.ts';

type LaterStageProps = {
  readonly onHome: () => void;
  /** The stage, from the second file. */
  readonly children: (module: Extract<Later, { type: 'there' }>['module']) => ReactNode;
};

/** A stage that is in the second file; until it comes, what is being done about it. */
export function LaterStage({ onHome, children }: LaterStageProps) {
  const later = useLater();
  useEffect(() => void askForLater(), []);
  return later.type === 'there' ? (
    children(later.module)
  ) : (
    <>
      <SiteHeader onHome={onHome} />
      <Waiting failed={later.type === 'failed'} />
      <SiteFooter />
    </>
  );
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
            // The button goes, its focus does not go to the body.
            main.current?.focus({ preventScroll: true });
            void askForLater();
          }}
        >
          {words.tryAgain}
        </Button>
      )}
    </main>
  );
}

/** The tooltips, as soon as they can be had. */
export function LaterTooltips() {
  const later = useLater();
  return later.type === 'there' && <later.module.Tooltips />;
}

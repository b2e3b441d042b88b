// A stage that is in the second file, and what the visitor sees until that file has loaded.
import { useEffect, type ReactNode } from 'react';

import { nextStep as words } from '#campaign/interface.yaml';
import { SiteFooter } from '#web/frame/site-footer.tsx';
import { SiteHeader } from '#web/frame/site-header.tsx';
import styles from '#web/second-file/second-file-stage.module.css';
import { loadSecondFile, useSecondFile, type SecondFile } from '#web/second-file/load-second-file.ts';
import { Button } from '#web/ui/button.tsx';
import { useFocusOnMount } from '#web/ui/use-focus-on-mount.ts';

type SecondFileStageProps = {
  readonly onHome: () => void;
  /** The stage, from the second file. */
  readonly children: (module: Extract<SecondFile, { type: 'loaded' }>['module']) => ReactNode;
};

/** Shows a stage of the second file; until it has loaded, a notice, and a button once loading has failed. */
export function SecondFileStage({ onHome, children }: SecondFileStageProps) {
  const secondFile = useSecondFile();
  useEffect(() => void loadSecondFile(), []);
  return secondFile.type === 'loaded' ? (
    children(secondFile.module)
  ) : (
    <>
      <SiteHeader onHome={onHome} />
      <Waiting failed={secondFile.type === 'failed'} />
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
            // The button disappears; its focus must not fall to the body.
            main.current?.focus({ preventScroll: true });
            void loadSecondFile();
          }}
        >
          {words.tryAgain}
        </Button>
      )}
    </main>
  );
}

/** The tooltips, as soon as the second file has loaded. */
export function SecondFileTooltips() {
  const secondFile = useSecondFile();
  return secondFile.type === 'loaded' && <secondFile.module.Tooltips />;
}

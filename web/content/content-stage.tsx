import { useEffect, useState, type MouseEvent } from 'react';

import { content as words } from '#campaign/interface.yaml';
import * as site from '#campaign/site.yaml';
import { ArticleText } from '#web/content/article-text.tsx';
import styles from '#web/content/content-stage.module.css';
import { OpeningEnvelope } from '#web/content/opening-envelope.tsx';
import { SELECTABLE } from '#web/content/prompt-blocks.ts';
import { readingProgress } from '#web/content/reading.ts';
import { useShare } from '#web/content/use-share.ts';
import { SiteFooter } from '#web/frame/site-footer.tsx';
import { SiteHeader } from '#web/frame/site-header.tsx';
import { Button } from '#web/ui/button.tsx';
import { ArrowLeftIcon, ShareIcon } from '#web/ui/icons.tsx';
import { NoBreak } from '#web/ui/no-break.tsx';
import { Tooltip } from '#web/ui/tooltip.tsx';
import { useFocusOnMount } from '#web/ui/use-focus-on-mount.ts';

type ContentStageProps = {
  readonly justVerified: boolean | undefined;
  readonly onBack: () => void;
  readonly onStartAgain: () => void;
};

export function ContentStage({ justVerified, onBack, onStartAgain }: ContentStageProps) {
  const heading = useFocusOnMount<HTMLHeadingElement>();
  useEffect(() => {
    window.scrollTo(0, 0);
  }, []);

  return (
    <div className={styles.content} onContextMenu={blockMenu}>
      <SiteHeader>
        <Tooltip text={words.backTip}>
          <Button look="text" className={styles.back} onClick={onBack}>
            <ArrowLeftIcon />
            <span>{words.back}</span>
          </Button>
        </Tooltip>
        <ShareButton />
        <ReadingProgress />
      </SiteHeader>
      <main className={styles.main}>
        <h1 ref={heading} tabIndex={-1}>
          <NoBreak text={site.title} />
        </h1>
        <ArticleText heading={heading} justVerified={justVerified} onStartAgain={onStartAgain} />
      </main>
      <SiteFooter />
      {justVerified && <OpeningEnvelope />}
    </div>
  );
}

/** Specification, section 2. A prompt that must be copied by hand keeps its menu. */
function blockMenu(event: MouseEvent): void {
  if (event.target instanceof Element && event.target.closest(`[${SELECTABLE}]`)) return;
  event.preventDefault();
}

function ShareButton() {
  const share = useShare();
  return (
    <Tooltip text={words.shareTip}>
      <Button look="icon" className={styles.share} aria-label={words.share} onClick={share}>
        <ShareIcon />
      </Button>
    </Tooltip>
  );
}

function ReadingProgress() {
  const [percent, setPercent] = useState(0);
  useEffect(() => {
    const measure = () => {
      const { scrollHeight } = document.documentElement;
      const hasArticle = document.querySelector('article') !== null;
      setPercent(hasArticle ? readingProgress(window.scrollY, scrollHeight - window.innerHeight) : 0);
    };
    const resized = new ResizeObserver(measure);
    resized.observe(document.body);
    window.addEventListener('scroll', measure, { passive: true });
    return () => {
      resized.disconnect();
      window.removeEventListener('scroll', measure);
    };
  }, []);
  return (
    <div
      className={styles.progress}
      role="progressbar"
      aria-label={words.readingProgress}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(percent)}
    >
      <div style={{ transform: `scaleX(${percent / 100})` }} />
    </div>
  );
}

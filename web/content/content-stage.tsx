// The content stage: the article, a way back, a share button and the reading progress (specification, section 2).
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState, type RefObject } from 'react';

import { content as words, toasts as toastWords } from '#campaign/interface.yaml';
import * as site from '#campaign/site.yaml';
import { ARTICLE_KEY, failedWith, parseArticle } from '#web/api-client.ts';
import styles from '#web/content/content-stage.module.css';
import { partsRead, readingProgress } from '#web/content/reading-progress.ts';
import { sharePage } from '#web/content/share-page.ts';
import { reportStep } from '#web/funnel.ts';
import { SiteFooter } from '#web/frame/site-footer.tsx';
import { SiteHeader } from '#web/frame/site-header.tsx';
import { Button } from '#web/ui/button.tsx';
import { ArrowLeftIcon, ShareIcon } from '#web/ui/icons.tsx';
import { NoBreak } from '#web/ui/no-break.tsx';
import { Tooltip } from '#web/ui/tooltip.tsx';
import { useFocusOnMount } from '#web/ui/use-focus-on-mount.ts';
import { useToasts } from '#web/ui/toaster.tsx';

type ContentStageProps = {
  /** Whether a code was entered a moment ago: if the article is locked all the same, the browser refused the cookie. */
  readonly justVerified: boolean;
  readonly onBack: () => void;
  readonly onStartAgain: () => void;
};

/** The content stage. */
export function ContentStage({ justVerified, onBack, onStartAgain }: ContentStageProps) {
  const heading = useFocusOnMount<HTMLHeadingElement>();
  useEffect(() => {
    window.scrollTo({ top: 0 });
  }, []);

  return (
    <div className={styles.content} onContextMenu={(event) => event.preventDefault()}>
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
    </div>
  );
}

type ArticleTextProps = Omit<ContentStageProps, 'onBack'> & {
  readonly heading: RefObject<HTMLElement | null>;
};

function ArticleText({ heading, justVerified, onStartAgain }: ArticleTextProps) {
  const toasts = useToasts();
  const article = useQuery({ queryKey: ARTICLE_KEY, select: parseArticle });
  const locked = failedWith(article.error, 'no-session');
  const cookiesRefused = locked && justVerified;
  useEffect(() => {
    if (!cookiesRefused) return;
    // "Access granted" is not so.
    for (const { id } of toasts.getState()) toasts.dismiss(id);
  }, [cookiesRefused, toasts]);
  // "Try again" goes when it is pressed; the focus then waits at the title.
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
    // With each status, which is what takes the button away.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [article.status]);
  if (article.isPending) {
    return (
      <p className={styles.notice} role="status">
        {words.opening}
      </p>
    );
  }
  if (article.isError) {
    const ended = justVerified ? words.cookiesRefused : words.accessEnded;
    return (
      <div className={styles.notice} role="alert">
        <p>{locked ? ended : words.notLoaded}</p>
        {locked ? (
          <Button look="primary" onClick={onStartAgain}>
            {words.getNewCode}
          </Button>
        ) : (
          <Button look="primary" onClick={() => void article.refetch()}>
            {words.tryAgain}
          </Button>
        )}
      </div>
    );
  }
  // Rendered by our server from the operator's Markdown, which may not contain HTML (server/campaign/render-article.ts).
  return (
    <>
      <ArticleBody html={article.data.html} />
      <ArticleEnd />
    </>
  );
}

/** The text. It reports how far it is read, once the reader has scrolled: a page may be open without being read. */
function ArticleBody({ html }: { readonly html: string }) {
  const article = useRef<HTMLElement>(null);
  useEffect(() => {
    const look = () => {
      const place = article.current?.getBoundingClientRect();
      // The page may still be on its way to the top, where the article begins.
      if (place && window.scrollY > 0) partsRead(place, window.innerHeight).forEach(reportStep);
    };
    window.addEventListener('scroll', look, { passive: true });
    return () => window.removeEventListener('scroll', look);
  }, []);
  return <article ref={article} className={styles.article} dangerouslySetInnerHTML={{ __html: html }} />;
}

/** The next step, for a visitor who has read to the end. */
function ArticleEnd() {
  const share = useShare();
  return (
    <section className={styles.end} aria-labelledby="article-end">
      <h2 id="article-end">{words.endTitle}</h2>
      <p>{words.endText}</p>
      <div>
        <Button look="primary" onClick={share}>
          <ShareIcon />
          <span>{words.endButton}</span>
        </Button>
        {site.readOn && <a href={site.readOn.href}>{site.readOn.label}</a>}
      </div>
    </section>
  );
}

/** Shares the public page, and says what came of it. */
function useShare(): () => void {
  const toasts = useToasts();
  const share = async () => {
    const outcome = await sharePage(navigator, {
      title: site.title,
      text: site.shareText,
      url: new URL('/', location.href).href,
    });
    if (outcome === 'copied') toasts.add(toastWords.linkCopied);
    if (outcome === 'failed') toasts.add({ ...toastWords.shareFailed, variant: 'destructive' });
  };
  return () => void share();
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
      const root = document.documentElement;
      setPercent(readingProgress(window.scrollY, root.scrollHeight - root.clientHeight));
    };
    // The article arrives after this bar does, and images and fonts change its height later still.
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

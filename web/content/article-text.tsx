import { useQuery } from '@tanstack/react-query';
import { useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';

import { article as articleWords, content as words } from '#campaign/interface.yaml';
import * as site from '#campaign/site.yaml';
import { API } from '#shared/api.ts';
import { fill, pluralForm, type Counted } from '#shared/words.ts';
import { ARTICLE_KEY, failedWith, checkGuideFile, noteReading, parseArticle } from '#web/api-client.ts';
import {
  followLinkWithin,
  headingToContinueAt,
  saveReadingPlace,
  wordsOf,
} from '#web/content/article-places.ts';
import styles from '#web/content/content-stage.module.css';
import { copyText, labelPrompts, selectBlock } from '#web/content/prompt-blocks.ts';
import { partsRead, readingMinutes } from '#web/content/reading.ts';
import { withUnbrokenTerms } from '#web/content/unbroken-terms.ts';
import { useShare } from '#web/content/use-share.ts';
import { reportStep } from '#web/funnel.ts';
import { SITE_PATH } from '#web/site-path.ts';
import { Button, buttonClass } from '#web/ui/button.tsx';
import { goTo } from '#web/ui/go-to.ts';
import { DownloadIcon, ShareIcon } from '#web/ui/icons.tsx';
import { toasts } from '#web/ui/toast-store.ts';

type ArticleTextProps = {
  readonly justVerified: boolean | undefined;
  readonly onStartAgain: () => void;
  readonly heading: RefObject<HTMLElement | null>;
};

export function ArticleText({ heading, justVerified, onStartAgain }: ArticleTextProps) {
  const article = useQuery({ queryKey: ARTICLE_KEY, select: parseArticle });
  const locked = failedWith(article.error, 'no-session');
  // False if the session ended while the article was open.
  const cookiesRefused = locked && justVerified && article.data === undefined;
  useEffect(() => {
    if (!cookiesRefused) return;
    // The toast "Access granted" is no longer true.
    for (const { id } of toasts.get()) toasts.dismiss(id);
  }, [cookiesRefused]);
  // The "Try again" button disappears when pressed, so the title takes the focus.
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
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
    const ended = cookiesRefused ? words.cookiesRefused : words.accessEnded;
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
  // Our server renders this from Markdown without HTML (server/campaign/article.ts).
  return (
    <>
      {words.readingTime && <ReadingTime words={words.readingTime} html={article.data.html} />}
      <ArticleBody key={article.data.html} html={article.data.html} />
      {site.download && (
        <GuideFileButton label={site.download.label} onAccessEnded={() => void article.refetch()} />
      )}
      <GuideChapters />
      <ArticleEnd />
    </>
  );
}

/** The link in the guide mail reaches the page through a redirect. */
function cameByLink(): boolean {
  const [entry] = performance.getEntriesByType('navigation');
  return entry instanceof PerformanceNavigationTiming && entry.redirectCount > 0;
}

function ReadingTime({ words: counted, html }: { readonly words: Counted; readonly html: string }) {
  const minutes = readingMinutes(html, site.language);
  return (
    <p className={styles.readingTime}>{fill(pluralForm(counted, minutes, site.language), { minutes })}</p>
  );
}

function ArticleBody({ html }: { readonly html: string }) {
  const article = useRef<HTMLElement>(null);
  useEffect(() => {
    let isReported = !cameByLink();
    const onScroll = () => {
      if (!isReported && window.scrollY > 0) {
        isReported = true;
        noteReading();
      }
      const place = article.current?.getBoundingClientRect();
      // The page may still be scrolling to the top.
      if (place && window.scrollY > 0) partsRead(place, window.innerHeight).forEach(reportStep);
      if (article.current && articleWords.continueAt) saveReadingPlace(article.current);
    };
    window.addEventListener('scroll', onScroll, { passive: true });
    return () => window.removeEventListener('scroll', onScroll);
  }, []);
  useLayoutEffect(() => {
    const { prompt } = words;
    if (!article.current || !prompt) return;
    labelPrompts(article.current, {
      ...prompt,
      onCopy: (text, block) =>
        void copyText(text).then(
          () => toasts.add(prompt.copied),
          () => {
            selectBlock(block);
            toasts.add({ ...prompt.notCopied, variant: 'destructive' });
          },
        ),
    });
  }, []);
  const [stoppedAt, setStoppedAt] = useState<HTMLElement>();
  useLayoutEffect(() => {
    const element = article.current!;
    if (articleWords.continueAt) setStoppedAt(headingToContinueAt(element));
    element.addEventListener('click', followLinkWithin);
    return () => element.removeEventListener('click', followLinkWithin);
  }, []);
  return (
    <>
      {articleWords.continueAt && stoppedAt && (
        <Button look="text" className={styles.continue} onClick={() => goTo(stoppedAt)}>
          {fill(articleWords.continueAt, { section: wordsOf(stoppedAt) })}
        </Button>
      )}
      <article
        ref={article}
        className={styles.article}
        dangerouslySetInnerHTML={{ __html: withUnbrokenTerms(html) }}
      />
    </>
  );
}

function GuideFileButton({
  label,
  onAccessEnded,
}: {
  readonly label: string;
  readonly onAccessEnded: () => void;
}) {
  const download = async () => {
    try {
      await checkGuideFile();
      location.assign(SITE_PATH + API.guideFile);
    } catch (error) {
      if (failedWith(error, 'no-session')) onAccessEnded();
      else toasts.add({ title: label, description: words.notLoaded, variant: 'destructive' });
    }
  };
  return (
    <Button style={{ marginTop: '2.5rem' }} onClick={() => void download()}>
      <DownloadIcon />
      <span>{label}</span>
    </Button>
  );
}

/** The whole guide's contents, below the part that was read. */
function GuideChapters() {
  // Not destructured, so the bundler needs no object with all entries.
  const chapters = articleWords.chapters;
  if (!chapters) return null;
  return (
    <section className={styles.chapters} aria-labelledby="chapters">
      <h2 id="chapters">{chapters.title}</h2>
      <ol>
        {chapters.titles.map((title, index) => (
          <li key={title}>
            <div>
              {title}
              {index < chapters.open && <span className={styles.read}>{chapters.read}</span>}
              {index === chapters.open && <span>{chapters.next}</span>}
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** With a link of the operator's, sharing is the smaller button. The bundler drops absent entries. */
function ArticleEnd() {
  const share = useShare();
  if (!words.endTitle && !words.endText && !words.endButton && !site.readOn) return null;
  return (
    <section className={styles.end} aria-labelledby={words.endTitle && 'article-end'}>
      {words.endTitle && <h2 id="article-end">{words.endTitle}</h2>}
      {words.endText && <p>{words.endText}</p>}
      <div>
        {site.readOn && (
          <a className={buttonClass('primary')} href={site.readOn.href}>
            {site.readOn.label}
          </a>
        )}
        {words.endButton && (
          <Button look={site.readOn ? 'plain' : 'primary'} onClick={share}>
            <ShareIcon />
            <span>{words.endButton}</span>
          </Button>
        )}
      </div>
    </section>
  );
}

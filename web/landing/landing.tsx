// The sections of the specification (section 2), or those of campaign/landing.yaml, in its order.
import { useRef, type RefObject } from 'react';

import * as landing from '#campaign/landing.yaml';
import { SiteFooter } from '#web/frame/site-footer.tsx';
import { SiteHeader } from '#web/frame/site-header.tsx';
import { GuideBar } from '#web/landing/guide-bar.tsx';
import { GuidePicture, srcSetOf } from '#web/guide/pictures.tsx';
import styles from '#web/landing/landing.module.css';
import { Figures, HowItWorks, Sections } from '#web/landing/sections.tsx';
import { saveReturnPoint, useReturnFocus, type Action } from '#web/landing/return-point.ts';
import { StaticPart } from '#web/frame/static-part.tsx';
import { VideoCard } from '#web/landing/video-card.tsx';
import { Button } from '#web/ui/button.tsx';
import { ClosingCover, HeroCover } from '#web/guide/guide-cover.tsx';
import { ArrowRightIcon } from '#web/ui/icons.tsx';
import { DottedParts, NoBreak } from '#web/ui/no-break.tsx';

type LandingStageProps = {
  readonly onCallToAction: () => void;
  /**
   * True if the visitor comes back from another stage. The focus then returns to the pressed call to action, or to the headline.
   */
  readonly hasMoved: () => boolean;
};

const FILM_NAME = landing.isVideoInHowItWorks
  ? { 'aria-labelledby': 'how-it-works' }
  : { id: 'video', 'aria-label': landing.video?.label };

export function LandingStage({ onCallToAction, hasMoved }: LandingStageProps) {
  const headline = useRef<HTMLHeadingElement>(null);
  const hero = useRef<HTMLButtonElement>(null);
  const film = useRef<HTMLElement>(null);
  const bar = useRef<HTMLDivElement>(null);
  const closing = useRef<HTMLButtonElement>(null);
  const actions = { hero, film, bar, closing };
  useReturnFocus(headline, actions, hasMoved);

  const press = (action: Action) => () => {
    saveReturnPoint({ action, top: actions[action].current?.getBoundingClientRect().top ?? 0 });
    onCallToAction();
  };

  const prerendering = import.meta.env.SSR;
  return (
    <>
      <SiteHeader />
      <main>
        <Hero headlineRef={headline} buttonRef={hero} onCallToAction={press('hero')} />
        <StaticPart id="before">
          {prerendering ? <Sections names={landing.sectionsBefore} /> : null}
        </StaticPart>
        {landing.video && (
          <>
            <section className={styles.section} {...FILM_NAME}>
              {landing.isVideoInHowItWorks && (
                <StaticPart id="points">{prerendering ? <HowItWorks /> : null}</StaticPart>
              )}
              <VideoCard {...landing.video} ref={film} onCallToAction={press('film')} />
            </section>
            <StaticPart id="after">
              {prerendering ? <Sections names={landing.sectionsAfter} /> : null}
            </StaticPart>
          </>
        )}
        {landing.bar && (
          <GuideBar
            {...landing.bar}
            ref={bar}
            after={hero}
            before={closing}
            hasMoved={hasMoved}
            onCallToAction={press('bar')}
          />
        )}
        <Closing buttonRef={closing} onCallToAction={press('closing')} />
      </main>
      <SiteFooter />
    </>
  );
}

type CallToActionProps = {
  readonly buttonRef: RefObject<HTMLButtonElement | null>;
  readonly onCallToAction: () => void;
};

// Shown below the medium breakpoint. Not "data:,", because srcset takes a trailing comma as a separator.
const EMPTY_IMAGE = 'data:,0';
const HERO_WIDTHS = [640, 960, 1280];
const HERO_SIZES = '(min-width: 1120px) 30rem, 44vw';

function Hero({
  headlineRef,
  buttonRef,
  onCallToAction,
}: CallToActionProps & { readonly headlineRef: RefObject<HTMLHeadingElement | null> }) {
  const { badge, headline, subtext, button, trustLines, imageAlt } = landing.hero;
  return (
    <section className={styles.hero} aria-labelledby="headline">
      <p className={styles.badge}>{badge}</p>
      <h1 id="headline" ref={headlineRef} tabIndex={-1}>
        <NoBreak text={headline} />
      </h1>
      <div className={styles.heroText}>
        <p className={styles.lead}>{subtext}</p>
        <Button ref={buttonRef} name={'hero' satisfies Action} look="primary" onClick={onCallToAction}>
          <span>{button}</span>
          <ArrowRightIcon size={18} />
        </Button>
        <WithoutScript />
        <ul className={styles.trust}>
          {trustLines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </div>
      {imageAlt && (
        <picture className={styles.heroPicture}>
          <source media="(max-width: 767.98px)" srcSet={EMPTY_IMAGE} />
          <source type="image/avif" srcSet={srcSetOf('hero', HERO_WIDTHS, 'avif')} sizes={HERO_SIZES} />
          <source type="image/webp" srcSet={srcSetOf('hero', HERO_WIDTHS, 'webp')} sizes={HERO_SIZES} />
          {/* The picture must not compete with the words for a slow line. */}
          <img src={EMPTY_IMAGE} alt={imageAlt} width={1280} height={1024} fetchPriority="low" />
        </picture>
      )}
      <HeroCover className={styles.heroPicture} />
      {landing.figures && <StaticPart id="figures">{import.meta.env.SSR ? <Figures /> : null}</StaticPart>}
    </section>
  );
}

function WithoutScript() {
  return (
    <noscript>
      <p className={styles.withoutScript}>{landing.withoutScript}</p>
    </noscript>
  );
}

function Closing({ buttonRef, onCallToAction }: CallToActionProps) {
  const { title, text, button, note } = landing.closing;
  return (
    <section className={styles.closing} aria-labelledby="closing">
      <div>
        <h2 id="closing">
          <NoBreak text={title} />
        </h2>
        <p>{text}</p>
        <Button ref={buttonRef} name={'closing' satisfies Action} look="primary" onClick={onCallToAction}>
          <span>{button}</span>
          <ArrowRightIcon size={18} />
        </Button>
        <WithoutScript />
        <p className={styles.note}>
          <DottedParts text={note} />
        </p>
      </div>
      {landing.promise?.imageAlt ? <GuidePicture alt="" width="26rem" /> : <ClosingCover />}
    </section>
  );
}

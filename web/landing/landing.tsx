// The landing stage: nine sections in the order of the specification, section 2. Every word is in
// content/landing.yaml.
import {
  ArrowRight,
  Gauge,
  Library,
  PenLine,
  RefreshCcw,
  TrendingUp,
  Users,
  type LucideIcon,
} from 'lucide-react';

import { useEffect, useRef, type RefObject } from 'react';

import landing from '#content/landing.yaml';
import type { BenefitIcon } from '#shared/content-schema.ts';
import { SiteFooter } from '#web/frame/site-footer.tsx';
import { SiteHeader } from '#web/frame/site-header.tsx';
import styles from '#web/landing/landing.module.css';
import { Testimonials } from '#web/landing/testimonials.tsx';
import { VideoCard } from '#web/landing/video-card.tsx';
import { Button } from '#web/ui/button.tsx';
import { Unbroken } from '#web/ui/unbroken.tsx';

type LandingStageProps = {
  /** Either of the two buttons that lead to the form was pressed. */
  readonly onCallToAction: () => void;
  /** Whether the visitor comes back from another stage; the focus then goes to the headline. */
  readonly hasMoved: () => boolean;
};

/** The landing stage. */
export function LandingStage({ onCallToAction, hasMoved }: LandingStageProps) {
  const headline = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!hasMoved()) return;
    window.scrollTo({ top: 0 });
    headline.current?.focus({ preventScroll: true });
    // Only on arrival.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, []);

  return (
    <>
      <SiteHeader />
      <main>
        <Hero headlineRef={headline} onCallToAction={onCallToAction} />
        <Benefits />
        <HowItWorks />
        <Problems />
        <Solution />
        <Testimonials />
        <Closing onCallToAction={onCallToAction} />
      </main>
      <SiteFooter />
    </>
  );
}

type CallToAction = { readonly onCallToAction: () => void };

// One transparent pixel: what the picture element shows, and all it downloads, below the medium breakpoint.
const NOTHING = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==';
const HERO_WIDTHS = [640, 960, 1280];
const heroSet = (type: string) =>
  HERO_WIDTHS.map((width) => `/media/hero-${width}.${type} ${width}w`).join(', ');
const HERO_SIZES = '(min-width: 1120px) 34rem, 46vw';

function Hero({
  headlineRef,
  onCallToAction,
}: CallToAction & { readonly headlineRef: RefObject<HTMLHeadingElement | null> }) {
  const { badge, headline, subtext, button, trustLines, imageAlt } = landing.hero;
  return (
    <section className={styles.hero} aria-labelledby="headline">
      <div className={styles.heroText}>
        <p className={styles.badge}>{badge}</p>
        <h1 id="headline" ref={headlineRef} tabIndex={-1}>
          <Unbroken text={headline} />
        </h1>
        <p className={styles.lead}>{subtext}</p>
        <Button look="primary" onClick={onCallToAction}>
          <span>{button}</span>
          <ArrowRight size={18} aria-hidden />
        </Button>
        <WithoutScript />
        <ul className={styles.trust}>
          {trustLines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </div>
      <picture className={styles.heroPicture}>
        <source media="(max-width: 767.98px)" srcSet={NOTHING} />
        <source type="image/avif" srcSet={heroSet('avif')} sizes={HERO_SIZES} />
        <source type="image/webp" srcSet={heroSet('webp')} sizes={HERO_SIZES} />
        <img src={NOTHING} alt={imageAlt} width={1280} height={1024} />
      </picture>
    </section>
  );
}

/** Where scripts are blocked the button can do nothing; say so beside it. */
function WithoutScript() {
  return (
    <noscript>
      <p className={styles.withoutScript}>{landing.withoutScript}</p>
    </noscript>
  );
}

const ICONS: Readonly<Record<BenefitIcon, LucideIcon>> = {
  prompt: PenLine,
  knowledge: Library,
  drivers: Users,
  deliverability: Gauge,
  refinement: RefreshCcw,
  results: TrendingUp,
};

function Benefits() {
  const { title, intro, cards } = landing.benefits;
  return (
    <section className={styles.section} aria-labelledby="benefits">
      <div className={styles.sectionHead}>
        <h2 id="benefits">{title}</h2>
        <p>{intro}</p>
      </div>
      <ul className={styles.benefits}>
        {cards.map(({ icon, title: cardTitle, description }) => {
          const Icon = ICONS[icon];
          return (
            <li key={cardTitle}>
              <Icon size={28} strokeWidth={1.25} aria-hidden />
              <h3>{cardTitle}</h3>
              <p>{description}</p>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function HowItWorks() {
  const { title, intro, points, video } = landing.howItWorks;
  return (
    <section className={styles.section} aria-labelledby="how-it-works">
      <div className={styles.sectionHead}>
        <h2 id="how-it-works">{title}</h2>
        <p>{intro}</p>
      </div>
      <div className={styles.how}>
        <ol className={styles.points}>
          {points.map(({ title: pointTitle, description }) => (
            <li key={pointTitle}>
              <h3>{pointTitle}</h3>
              <p>{description}</p>
            </li>
          ))}
        </ol>
        <VideoCard {...video} />
      </div>
    </section>
  );
}

function Problems() {
  const { title, intro, cards } = landing.problems;
  return (
    <section className={styles.section} aria-labelledby="problems">
      <div className={styles.sectionHead}>
        <h2 id="problems">{title}</h2>
        <p>{intro}</p>
      </div>
      <ul className={styles.problems}>
        {cards.map(({ title: cardTitle, description }) => (
          <li key={cardTitle}>
            <h3>{cardTitle}</h3>
            <p>{description}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Solution() {
  const { title, text, qualities, proof } = landing.solution;
  return (
    <section className={styles.plate} aria-labelledby="solution">
      <h2 id="solution">{title}</h2>
      <p className={styles.plateText}>{text}</p>
      <ul className={styles.qualities}>
        {qualities.map(({ title: quality, description }) => (
          <li key={quality}>
            <h3>{quality}</h3>
            <p>{description}</p>
          </li>
        ))}
      </ul>
      <p className={styles.proof}>{proof}</p>
    </section>
  );
}

function Closing({ onCallToAction }: CallToAction) {
  const { title, text, button, note } = landing.closing;
  return (
    <section className={styles.closing} aria-labelledby="closing">
      <h2 id="closing">
        <Unbroken text={title} />
      </h2>
      <p>{text}</p>
      <Button look="primary" onClick={onCallToAction}>
        <span>{button}</span>
        <ArrowRight size={18} aria-hidden />
      </Button>
      <WithoutScript />
      <p className={styles.note}>{note}</p>
    </section>
  );
}

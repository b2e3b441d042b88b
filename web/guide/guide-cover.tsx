import { MARK_SHAPES } from '#shared/drawings.ts';
import { chapters, hero, promise } from '#campaign/landing.yaml';
import * as site from '#campaign/site.yaml';
import { StaticPart } from '#web/frame/static-part.tsx';
import styles from '#web/guide/guide-cover.module.css';
import { NoBreak } from '#web/ui/no-break.tsx';

/** All covers have the same static part, so one that appears later reuses the markup of a prerendered one. */
function Cover({ className }: { readonly className?: string | undefined }) {
  return (
    <div className={className} aria-hidden>
      <StaticPart id="guide-cover">{import.meta.env.SSR ? <GuideCover /> : null}</StaticPart>
    </div>
  );
}

export function HeroCover({ className = '' }: { readonly className: string | undefined }) {
  if (hero.imageAlt && (promise === undefined || promise.imageAlt)) return null;
  return <Cover className={hero.imageAlt ? styles.kept : `${className} ${styles.ground}`} />;
}

export const ClosingCover = () => <Cover />;

export const PromiseCover = () => <Cover className={styles.beside} />;

const strands = (): string =>
  Array.from({ length: 25 }, (_, index) => {
    const far = 296 + (Math.floor(index / 5) - 2) * 34 + ((index % 5) - 2) * 4.6;
    const near = 353 + (index - 12) * 1.15;
    return `M19 ${far.toFixed(1)}C90 ${far.toFixed(1)} 96 ${near.toFixed(1)} 176 ${near.toFixed(1)}H226`;
  }).join('');

const FITS = { word: 12, title: 36 };

function GuideCover() {
  const longest = Math.max(...site.title.split(/\s/).map((word) => word.length));
  const isLong = longest > FITS.word || site.title.length > FITS.title;
  return (
    <div className={styles.scene}>
      <div className={`${styles.sheet} ${styles.refinement}`}>
        <svg viewBox="0 0 300 400" fill="none">
          <path
            className={styles.rules}
            d="M150 52H262M150 66H262M150 80H240M150 284H262M150 298H262M150 312H220"
          />
          <path className={styles.curve} d="M152 238L180 222 208 190 236 160 264 112" />
        </svg>
      </div>
      <div className={`${styles.sheet} ${styles.contents}`}>
        {chapters.slice(0, 6).map((title) => (
          <p key={title}>{title}</p>
        ))}
        {chapters.length === 0 && (
          <svg viewBox="0 0 166 372" fill="none">
            <path className={styles.rules} d="M0 8H132M0 22H132M0 36H110M0 64H132M0 78H132M0 92H96" />
          </svg>
        )}
      </div>
      <div className={`${styles.sheet} ${styles.cover}`}>
        <p className={styles.badge}>
          <span>{hero.badge}</span>
        </p>
        <p className={isLong ? `${styles.title} ${styles.long}` : styles.title}>
          <NoBreak text={site.title} />
        </p>
        <svg className={styles.strands} viewBox="0 0 300 400" fill="none">
          <path d={strands()} />
        </svg>
        <svg className={styles.mark} viewBox="0 0 16 16">
          {site.logo ? <image href={site.logo.src} width="16" height="16" /> : <path d={MARK_SHAPES} />}
        </svg>
      </div>
    </div>
  );
}

import * as landing from '#campaign/landing.yaml';
import type { DrawnIcon, SectionName } from '#shared/campaign-schema.ts';
import { barsOf, figureAtEnd, figureAtStart } from '#web/landing/figures.ts';
import { GuidePicture, OpenPages } from '#web/guide/pictures.tsx';
import styles from '#web/landing/landing.module.css';
import letterStyles from '#web/landing/letter.module.css';
import logoRow from '#web/landing/logos.module.css';
import questionList from '#web/landing/questions.module.css';
import shapes from '#web/landing/shapes.module.css';
import { Avatar } from '#web/ui/avatar.tsx';
import { NAMED_ICONS, LinesIcon } from '#web/ui/icons.tsx';

export type StaticSection = Exclude<SectionName, 'video'>;

/** @param names only of sections that landing.yaml contains (sectionsOf), so their words exist */
export function Sections({ names }: { readonly names: readonly StaticSection[] }) {
  return names.map((name) => {
    const Section = SECTION_COMPONENTS[name];
    return <Section key={name} />;
  });
}

type SectionHeadProps = { readonly id: string; readonly title: string; readonly intro?: string | undefined };

function SectionHead({ id, title, intro }: SectionHeadProps) {
  return (
    <div className={styles.sectionHead}>
      <h2 id={id}>{title}</h2>
      {intro && <p>{intro}</p>}
    </div>
  );
}

export function Figures() {
  return (
    <dl className={styles.figures}>
      {landing.figures?.map(({ from, value, label }) => {
        const bars = from === undefined ? null : barsOf(from, value);
        return (
          <div key={value}>
            <dt>{label}</dt>
            <dd>
              <strong>{value}</strong>
            </dd>
            {from && <dd>{from}</dd>}
            {bars && (
              <svg width="100%" height="14" aria-hidden>
                <rect width={`${bars.from}%`} height="2" />
                <rect y="8" width={`${bars.to}%`} height="6" />
              </svg>
            )}
          </div>
        );
      })}
    </dl>
  );
}

function Benefits() {
  const { title, intro, cards } = landing.benefits!;
  const guide = landing.promise?.imageAlt;
  return (
    <section className={styles.section} aria-labelledby="benefits">
      <div className={styles.contents}>
        <div>
          <SectionHead id="benefits" title={title} intro={intro} />
          {guide && (
            <div className={styles.guide}>
              <GuidePicture alt={guide} width="27rem" />
            </div>
          )}
        </div>
        <ol className={styles.chapters}>
          {cards.map(({ icon, title: cardTitle, description, note }) => (
            <li key={cardTitle}>
              <BenefitIcon name={icon} />
              <h3>{cardTitle}</h3>
              <p>{description}</p>
              {note && <p className={styles.chapterNote}>{note}</p>}
            </li>
          ))}
        </ol>
      </div>
      {landing.inside && <Inside {...landing.inside} />}
    </section>
  );
}

const isNamedIcon = (name: string): name is DrawnIcon => name in NAMED_ICONS;

function BenefitIcon({ name }: { readonly name: string }) {
  if (!isNamedIcon(name)) return <LinesIcon lines={landing.drawings[name] ?? ''} size={36} />;
  const Icon = NAMED_ICONS[name];
  return <Icon size={36} />;
}

type Pages = NonNullable<typeof landing.inside>;

/**
 * A phone shows only the title and loads the pictures when it is pressed. The markup contains them twice, and one copy is hidden.
 */
function Inside({ title, pictures }: Pages) {
  return (
    <>
      <details className={styles.insideLater}>
        <summary>{title}</summary>
        {allPages(pictures)}
      </details>
      <div className={styles.inside}>{allPages(pictures)}</div>
    </>
  );
}

const allPages = (pictures: Pages['pictures']) =>
  pictures.map((alt, index) => <OpenPages key={alt} number={index + 1} alt={alt} />);

export function HowItWorks() {
  const { title, intro, points } = landing.howItWorks!;
  return (
    <>
      <SectionHead id="how-it-works" title={title} intro={intro} />
      <ol className={classes(styles.points, shapeOf(points.length))}>
        {points.map(({ title: point, description }) => (
          <li key={point}>
            <h3>{point}</h3>
            <p>{description}</p>
          </li>
        ))}
      </ol>
    </>
  );
}

function HowItWorksSection() {
  return (
    <section className={styles.section} aria-labelledby="how-it-works">
      <HowItWorks />
    </section>
  );
}

function Problems() {
  const { title, intro, cards } = landing.problems!;
  return (
    <section className={styles.section} aria-labelledby="problems">
      <SectionHead id="problems" title={title} intro={intro} />
      <ul className={styles.problems}>
        {cards.map(({ title: cardTitle, description, exhibit }) => (
          <li key={cardTitle}>
            <h3>{cardTitle}</h3>
            <p>{description}</p>
            {exhibit && (
              <div className={letterStyles.card}>
                {exhibit.line} <s>{exhibit.struck}</s>
              </div>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Solution() {
  const { title, text, qualities, letter, proof } = landing.solution!;
  const emphasis = figureAtEnd(proof);
  return (
    <section className={styles.plate} aria-labelledby="solution">
      <div>
        <h2 id="solution">{title}</h2>
        <p className={styles.plateText}>{text}</p>
        <ul className={classes(styles.qualities, shapeOf(qualities.length))}>
          {qualities.map(({ title: quality, description }) => (
            <li key={quality}>
              <h3>{quality}</h3>
              <p>{description}</p>
            </li>
          ))}
        </ul>
        {letter && <Letter {...letter} />}
        <p className={styles.proof}>
          {emphasis === null ? (
            proof
          ) : (
            <>
              <span>{emphasis.before}</span>
              <strong>{emphasis.figure}</strong>
            </>
          )}
        </p>
      </div>
    </section>
  );
}

type LetterWords = NonNullable<NonNullable<typeof landing.solution>['letter']>;

function Letter({ title, paragraphs, note, reply }: LetterWords) {
  return (
    <figure className={letterStyles.letter}>
      <figcaption>
        {title}
        {note && <small>{note}</small>}
      </figcaption>
      <div>
        <div className={letterStyles.sheet}>
          {paragraphs.map(({ part, text }) => (
            <p key={text}>
              <small>{part}</small> <span>{text}</span>
            </p>
          ))}
        </div>
        {reply && <div className={letterStyles.card}>{reply}</div>}
      </div>
    </figure>
  );
}

function Testimonials() {
  const { title, cards } = landing.testimonials!;
  return (
    <section className={styles.section} aria-labelledby="testimonials">
      <SectionHead id="testimonials" title={title} />
      <ul className={classes(styles.testimonials, shapeOfTestimonials(cards.length))}>
        {cards.map(({ name, role, image, logo, quote, metric }) => (
          <li key={name}>
            <figure>
              <Metric text={metric} />
              <blockquote>
                <p>{quote}</p>
              </blockquote>
              <figcaption>
                <Avatar name={name} image={image} />
                <span>
                  <strong>{name}</strong>
                  <span>{role}</span>
                </span>
                {logo && (
                  <img className={styles.logo} {...landing.testimonialLogos[logo]} alt="" loading="lazy" />
                )}
              </figcaption>
            </figure>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Metric({ text }: { readonly text: string }) {
  const emphasis = figureAtStart(text);
  return (
    <p className={styles.metric}>
      {emphasis === null ? (
        text
      ) : (
        <>
          <strong>{emphasis.figure}</strong>
          {emphasis.after}
        </>
      )}
    </p>
  );
}

function Logos() {
  const { title, companies } = landing.logos!;
  return (
    <section className={classes(styles.section, logoRow.logos)} aria-labelledby="logos">
      <h2 id="logos">{title}</h2>
      <ul>
        {companies.map(({ name, logo }) => (
          <li key={name}>
            {logo ? <img {...landing.companyLogos[logo]} alt={name} loading="lazy" /> : name}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** All answers are open, so searching and printing include them. */
function Questions() {
  const { title, intro, answers } = landing.questions!;
  return (
    <section className={styles.section} aria-labelledby="questions">
      <div className={styles.contents}>
        <div>
          <SectionHead id="questions" title={title} intro={intro} />
        </div>
        <ul className={questionList.questions}>
          {answers.map(({ question, answer }) => (
            <li key={question}>
              <h3>{question}</h3>
              {answer.split(/\n+/).map((paragraph) => (
                <p key={paragraph}>{paragraph}</p>
              ))}
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

const SECTION_COMPONENTS: Readonly<Record<StaticSection, typeof Benefits>> = {
  logos: Logos,
  benefits: Benefits,
  howItWorks: HowItWorksSection,
  problems: Problems,
  solution: Solution,
  testimonials: Testimonials,
  questions: Questions,
};

// Avoids a single item in the last row. By default, landing.module.css shows points and qualities in rows of three or one,
// testimonials in rows of two or one.

const leavesOne = (count: number, columns: number): boolean => count > 1 && count % columns === 1;

function shapeOf(count: number): string | undefined {
  if (!leavesOne(count, 3)) return undefined;
  if (!leavesOne(count, 2)) return shapes.two;
  return leavesOne(count, 4) ? shapes.one : shapes.four;
}

function shapeOfTestimonials(count: number): string | undefined {
  if (!leavesOne(count, 2)) return undefined;
  return leavesOne(count, 3) ? shapes.one : shapes.threeWide;
}

const classes = (...names: readonly (string | undefined)[]) => names.filter(Boolean).join(' ');

// The sections of the landing page that nothing can happen in (static-part.tsx). Every word is in campaign/landing.yaml.
import * as landing from '#campaign/landing.yaml';
import type { BenefitIcon } from '#shared/campaign-schema.ts';
import styles from '#web/landing/landing.module.css';
import shapes from '#web/landing/shapes.module.css';
import { Avatar } from '#web/ui/avatar.tsx';
import {
  DeliverabilityIcon,
  DriversIcon,
  KnowledgeIcon,
  PromptIcon,
  RefinementIcon,
  ResultsIcon,
} from '#web/ui/icons.tsx';

const ICONS: Readonly<Record<BenefitIcon, typeof PromptIcon>> = {
  prompt: PromptIcon,
  knowledge: KnowledgeIcon,
  drivers: DriversIcon,
  deliverability: DeliverabilityIcon,
  refinement: RefinementIcon,
  results: ResultsIcon,
};

// What keeps a number of cards from leaving one alone in a row. Without a shape the cards stand as landing.module.css says:
// benefits in rows of three, two or one, problems and qualities of three or one, testimonials of two or one.

const leavesOne = (count: number, columns: number): boolean => count > 1 && count % columns === 1;

/** Of cards that stand in rows of three or one. */
function shapeOf(count: number): string | undefined {
  if (!leavesOne(count, 3)) return undefined;
  if (!leavesOne(count, 2)) return shapes.two;
  return leavesOne(count, 4) ? shapes.one : shapes.four;
}

const shapeOfBenefits = (count: number): string | undefined =>
  shapeOf(count) ?? (leavesOne(count, 2) ? shapes.three : undefined);

function shapeOfTestimonials(count: number): string | undefined {
  if (!leavesOne(count, 2)) return undefined;
  return leavesOne(count, 3) ? shapes.one : shapes.threeWide;
}

const classes = (...names: readonly (string | undefined)[]) => names.filter(Boolean).join(' ');

type SectionHeadProps = { readonly id: string; readonly title: string; readonly intro?: string };

/** A section's title and the sentence under it. */
export function SectionHead({ id, title, intro }: SectionHeadProps) {
  return (
    <div className={styles.sectionHead}>
      <h2 id={id}>{title}</h2>
      {intro && <p>{intro}</p>}
    </div>
  );
}

/** 'What You'll Learn'. */
export function Benefits() {
  const { title, intro, cards } = landing.benefits;
  return (
    <section className={styles.section} aria-labelledby="benefits">
      <SectionHead id="benefits" title={title} intro={intro} />
      <ul className={classes(styles.benefits, shapeOfBenefits(cards.length))}>
        {cards.map(({ icon, title: cardTitle, description }) => {
          const Icon = ICONS[icon];
          return (
            <li key={cardTitle}>
              <Icon size={36} />
              <h3>{cardTitle}</h3>
              <p>{description}</p>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** The numbered points of 'See How It Works'. */
export function HowItWorksPoints() {
  return (
    <ol className={classes(styles.points, landing.video ? undefined : shapes.pointsAlone)}>
      {landing.howItWorks.points.map(({ title, description }) => (
        <li key={title}>
          <h3>{title}</h3>
          <p>{description}</p>
        </li>
      ))}
    </ol>
  );
}

/** 'Why Most Cold Outreach Fails'. */
export function Problems() {
  const { title, intro, cards } = landing.problems;
  return (
    <section className={styles.section} aria-labelledby="problems">
      <SectionHead id="problems" title={title} intro={intro} />
      <ul className={classes(styles.problems, shapeOf(cards.length))}>
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

/** 'The Solution': structured, personalised, measurable. */
export function Solution() {
  const { title, text, qualities, proof } = landing.solution;
  return (
    <section className={styles.plate} aria-labelledby="solution">
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
      <p className={styles.proof}>{proof}</p>
    </section>
  );
}

/** 'Proven Results From Real Teams': people, each with a quote and a metric. */
export function Testimonials() {
  const { title, cards } = landing.testimonials;
  return (
    <section className={styles.section} aria-labelledby="testimonials">
      <SectionHead id="testimonials" title={title} />
      <ul className={classes(styles.testimonials, shapeOfTestimonials(cards.length))}>
        {cards.map(({ name, role, image, quote, metric }) => (
          <li key={name}>
            <figure>
              <p className={styles.metric}>{metric}</p>
              <blockquote>
                <p>{quote}</p>
              </blockquote>
              <figcaption>
                <Avatar name={name} image={image} />
                <span>
                  <strong>{name}</strong>
                  <span>{role}</span>
                </span>
              </figcaption>
            </figure>
          </li>
        ))}
      </ul>
    </section>
  );
}

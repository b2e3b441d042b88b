import { Fragment } from 'react';

import type { Happening } from '#desk/endpoints/people.ts';
import { sentenceCase } from '#desk/web/sentence-case.ts';
import { Sign } from '#desk/web/person/signs.tsx';
import { detailsOf, isTime, storyDays, toneOf, type Detail } from '#desk/web/person/story-look.ts';
import styles from '#desk/web/person/timeline.module.css';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { utcTime } from '#desk/web/ui/dates.ts';
import { parts, personPage } from '#desk/web/words.ts';

const words = personPage.story;

const dayOf = (at: string): string =>
  new Date(at).toLocaleDateString('en-GB', {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
  });

const clockOf = (at: string): string =>
  new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

export function Timeline({ happenings }: { readonly happenings: readonly Happening[] }) {
  if (happenings.length === 0) return <p className={styles.empty}>{words.empty}</p>;
  return storyDays(happenings, dayOf).map(({ day, entries }) => (
    <section key={day} className={styles.day}>
      <h3 className={styles.dayName}>{day}</h3>
      <ol className={styles.entries}>
        {entries.map((happening, index) => (
          <Entry key={`${happening.at} ${index}`} happening={happening} />
        ))}
      </ol>
    </section>
  ));
}

function Entry({ happening }: { readonly happening: Happening }) {
  const { at, kind, what } = happening;
  const { telling, more } = detailsOf(happening);
  return (
    <li className={styles.entry} data-tone={toneOf(happening)}>
      <span className={styles.sign}>
        <Sign kind={kind} />
      </span>
      <div className={styles.what}>
        <p className={styles.line}>
          <span className={styles.said}>{sentenceCase(what)}</span>
          <time className={styles.time} dateTime={at} title={parts.utc(utcTime(at))}>
            {clockOf(at)}
          </time>
        </p>
        {telling.length > 0 && <Details className={styles.telling} details={telling} />}
        {more.length > 0 && (
          <details className={styles.more}>
            <summary>{words.details}</summary>
            <Details className={styles.details} details={more} />
          </details>
        )}
      </div>
    </li>
  );
}

const Details = ({
  className,
  details,
}: {
  readonly className: string | undefined;
  readonly details: readonly Detail[];
}) => (
  <dl className={className}>
    {details.map(({ name, value }) => (
      <div key={name}>
        <dt>{sentenceCase(name)}</dt>
        <dd>{isTime(value) ? <DateTime at={value} /> : <Said text={value} />}</dd>
      </div>
    ))}
  </dl>
);

/** Isolated, because right-to-left text would reorder the change. */
const Said = ({ text }: { readonly text: string }) =>
  text.split(CHANGED).map((part, index) => (
    <Fragment key={index}>
      {index > 0 && CHANGED}
      <bdi>{part}</bdi>
    </Fragment>
  ));
const CHANGED = ' → ';

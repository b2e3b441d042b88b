import { Fragment } from 'react';

import type { TimelineEntry } from '#desk/endpoints/people.ts';
import { sentenceCase, utcTime } from '#desk/web/format.ts';
import { detailsOf, isTime, groupByDay, toneOf, type Detail } from '#desk/web/person/timeline-entry.ts';
import styles from '#desk/web/person/timeline.module.css';
import { useTimeZone } from '#desk/web/queries.ts';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { icon } from '#web/ui/icons.tsx';

const dayOf = (at: string, timeZone: string): string =>
  new Date(at).toLocaleDateString('en-GB', {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone,
  });

const clockOf = (at: string, timeZone: string): string =>
  new Date(at).toLocaleTimeString('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZone,
  });

export function Timeline({ entries }: { readonly entries: readonly TimelineEntry[] }) {
  const timeZone = useTimeZone();
  if (entries.length === 0) return <p className="quiet">No data about this person is stored any longer.</p>;
  return groupByDay(entries, (at) => dayOf(at, timeZone)).map(({ day, entries: ofDay }) => (
    <section key={day} className={styles.day}>
      <h3 className={styles.dayName}>{day}</h3>
      <ol>
        {ofDay.map((entry, index) => (
          <Entry key={`${entry.at} ${index}`} entry={entry} />
        ))}
      </ol>
    </section>
  ));
}

function Entry({ entry }: { readonly entry: TimelineEntry }) {
  const { at, kind, what } = entry;
  const timeZone = useTimeZone();
  const { primary, more } = detailsOf(entry);
  const Icon = ICONS[kind];
  return (
    <li className={styles.entry} data-tone={toneOf(entry)}>
      <span className={styles.sign}>
        <Icon size={16} />
      </span>
      <div className={styles.what}>
        <p className={`row ${styles.line}`}>
          <span className={styles.said}>{sentenceCase(what)}</span>
          <time className="quiet small" dateTime={at} title={`${utcTime(at)} UTC`}>
            {clockOf(at, timeZone)}
          </time>
        </p>
        {primary.length > 0 && <Details className={styles.telling} details={primary} />}
        {more.length > 0 && (
          <details className={styles.more}>
            <summary className="small">Details</summary>
            <Details details={more} />
          </details>
        )}
      </div>
    </li>
  );
}

const Details = ({
  className = '',
  details,
}: {
  readonly className?: string | undefined;
  readonly details: readonly Detail[];
}) => (
  <dl className={`pairs ${className}`}>
    {details.map(({ name, value }) => (
      <div key={name}>
        <dt>{sentenceCase(name)}</dt>
        <dd>{isTime(value) ? <DateTime at={value} /> : <DetailValue text={value} />}</dd>
      </div>
    ))}
  </dl>
);

/** Isolated, because right-to-left text would reorder the change. */
const DetailValue = ({ text }: { readonly text: string }) =>
  text.split(CHANGED).map((part, index) => (
    <Fragment key={index}>
      {index > 0 && CHANGED}
      <bdi>{part}</bdi>
    </Fragment>
  ));
const CHANGED = ' → ';

const ICONS: Readonly<Record<TimelineEntry['kind'], ReturnType<typeof icon>>> = {
  form: icon(
    'M7 3.5h10A1.5 1.5 0 0 1 18.5 5v14a1.5 1.5 0 0 1-1.5 1.5H7A1.5 1.5 0 0 1 5.5 19V5A1.5 1.5 0 0 1 7 3.5zM9 8h6M9 12h6M9 16h3',
    2,
  ),
  mail: icon('M4 6.5h16v11H4zM4 7l8 6 8-6', 2),
  code: icon('M9 4 7 20M17 4l-2 16M4.5 9h16M3.5 15h16', 2),
  lead: icon('m5 12.5 4.5 4.5L19 7.5', 2),
  read: icon('M12 6.5C10 5 7 4.5 4 4.5v14c3 0 6 .5 8 2 2-1.5 5-2 8-2v-14c-3 0-6 .5-8 2zm0 0v14', 2),
  consent: icon('M12 3 5 6v5.5c0 4.5 3 7.8 7 9.5 4-1.7 7-5 7-9.5V6zM9 12l2.2 2.2L15.5 10', 2),
  withdrawal: icon('M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM8 12h8', 2),
  correction: icon('M5 19h3.5L19 8.5 15.5 5 5 15.5zM13 7.5l3.5 3.5', 2),
  export: icon('M12 4v11m-5-5 5 5 5-5M5 20h14', 2),
  webhook: icon('M13 3 5 13.5h6L10.5 21 19 10.5h-6z', 2),
  other: icon('M12 11.25a.75.75 0 1 0 0 1.5.75.75 0 0 0 0-1.5z', 2),
};

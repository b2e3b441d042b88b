import { today, type SpanFigures, type Steps, type ToDo } from '#desk/endpoints/figures.ts';
import type { OutputOf } from '#desk/endpoints/endpoint.ts';
import { PersonBlock } from '#desk/web/leads/person-columns.tsx';
import { urlOf } from '#desk/web/api-client.ts';
import { Link } from '#desk/web/router.tsx';
import { useDeskQuery, useTimeZone } from '#desk/web/queries.ts';
import { QueryResult } from '#desk/web/ui/states.tsx';
import { Bars, ShareBar } from '#desk/web/ui/bars.tsx';
import {
  dayName,
  NO_LEADS,
  NONE,
  counted,
  number,
  percent,
  preciseShare,
  sentenceCase,
  shortNumber,
} from '#desk/web/format.ts';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { DownIcon, NoteIcon, ProblemIcon, UpIcon, WarningIcon } from '#desk/web/ui/icons.tsx';
import { Page, Section } from '#desk/web/ui/page.tsx';
import { Table, type Column } from '#desk/web/ui/table.tsx';
import styles from '#desk/web/today/today.module.css';

type Figures = OutputOf<typeof today>;

export function Today() {
  const result = useDeskQuery(today, {}, { refetchOnWindowFocus: true });
  return (
    <Page title="Today" lead={`Days in ${useTimeZone()}`}>
      <QueryResult of={result} lines={10}>
        {(data) => (
          <>
            <ToDoSummary toDo={data.toDo} />
            <div className={styles.spans}>
              {data.spans.map((span) => (
                <SpanPanel key={span.span} figures={span} />
              ))}
            </div>
            <LeadsByDay byDay={data.byDay} />
            <ToDoList toDo={data.toDo} />
            <Newest newest={data.newest} />
          </>
        )}
      </QueryResult>
    </Page>
  );
}

const TO_DO_STATES = {
  problem: { name: 'Problem', Icon: ProblemIcon },
  warning: { name: 'Warning', Icon: WarningIcon },
  note: { name: 'Note', Icon: NoteIcon },
} as const;

const TO_DO_ID = 'to-do';

function ToDoSummary({ toDo }: { readonly toDo: readonly ToDo[] }) {
  const problems = toDo.filter(({ state }) => state === 'problem').length;
  const others = toDo.length - problems;
  const first = toDo.find(({ state }) => state === 'problem');
  if (toDo.length === 0) return null;
  return (
    <p className={`panel row links ${problems > 0 ? styles.urgentStrip : styles.strip}`}>
      {first !== undefined && <span className={styles.firstProblem}>{sentenceCase(first.sentence)}</span>}
      <span>
        {problems > 0 && <strong>{counted(problems, 'problem')}</strong>}
        {problems > 0 && others > 0 && ' and '}
        {others > 0 && counted(others, 'warning')}
      </span>
      <a href={`#${TO_DO_ID}`}>See what needs doing</a>
    </p>
  );
}

const PAGE_LINKS: Readonly<Record<string, string>> = {
  '/doctor': 'Open the doctor',
  '/mail': 'See the mail',
};

function ToDoList({ toDo }: { readonly toDo: readonly ToDo[] }) {
  return (
    <Section title="What needs doing" id={TO_DO_ID}>
      {toDo.length === 0 ? (
        <p className="quiet">
          The site has noticed no problems. The doctor also checks DNS and the mail account.
        </p>
      ) : (
        <ul className={`panel ruled links ${styles.toDo}`}>
          {toDo.map(({ state, sentence, place, page }) => {
            const { name, Icon } = TO_DO_STATES[state];
            return (
              <li key={`${place} ${sentence}`} className={styles[state]}>
                <Icon size={18} />
                <p>
                  <span className="unseen">{name}: </span>
                  {sentenceCase(sentence)}
                  {place !== undefined && <small>{place}</small>}
                </p>
                <Link href={page}>
                  {PAGE_LINKS[page] ?? 'Show'}
                  <span className="unseen">: {sentence}</span>
                </Link>
              </li>
            );
          })}
        </ul>
      )}
    </Section>
  );
}

const STEPS = [
  ['seen', 'Saw the page'],
  ['opened', 'Opened the form'],
  ['asked', 'Asked for a code'],
  ['leads', 'Became leads'],
  ['read', 'Read the article'],
] as const satisfies readonly (readonly [keyof Steps, string])[];

const SPANS = {
  day: { name: 'Today', before: 'the same hours yesterday' },
  week: { name: 'Last 7 days', before: 'the 7 days before' },
  month: { name: 'Last 30 days', before: 'the 30 days before' },
} as const;

function SpanPanel({ figures: { span, now, before } }: { readonly figures: SpanFigures }) {
  const conversion = shareOf(now.leads, now.seen);
  return (
    <section className={`panel ${styles.span}`} aria-labelledby={`span-${span}`}>
      <h2 id={`span-${span}`}>{SPANS[span].name}</h2>
      <p className={styles.leads}>
        <strong>{number(now.leads)}</strong> {now.leads === 1 ? 'lead' : 'leads'}
        <Comparison now={now.leads} before={before.leads} to={SPANS[span].before} />
      </p>
      {conversion !== null && (
        <p className={`quiet small ${styles.conversion}`}>
          <strong>{preciseShare(conversion)}</strong> of views became leads
        </p>
      )}
      <dl className={`small ${styles.steps}`}>
        {STEPS.map(([step, name], index) => {
          const value = now[step];
          const share = index === 0 ? null : shareOf(value, now[STEPS[index - 1]![0]]);
          const valueBefore = before[step];
          // Without a previous value, a change would only repeat the value.
          const change = value === null || !valueBefore ? 0 : value - valueBefore;
          return (
            <div key={step}>
              <dt>{name}</dt>
              <dd>{value === null ? <span title="Unknown for this period">{NONE}</span> : number(value)}</dd>
              <dd className={styles.change} title={`Compared with ${SPANS[span].before}`}>
                {change !== 0 && `${change > 0 ? '+' : '−'}${shortNumber(Math.abs(change))}`}
              </dd>
              <dd className={styles.shareOf}>
                {share !== null && (
                  <>
                    <ShareBar share={share} />
                    <span>{percent(share)}</span>
                  </>
                )}
              </dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}

/** From 0 to 1; null if unknown or above 1, because visitors may have seen the page before the period. */
function shareOf(step: number | null, of: number | null): number | null {
  if (step === null || of === null || of === 0 || step > of) return null;
  return step / of;
}

type ComparisonProps = {
  readonly now: number;
  readonly before: number;
  /** Names the previous period. */
  readonly to: string;
};

function Comparison({ now, before, to }: ComparisonProps) {
  const className = `quiet small ${styles.compared}`;
  if (before === 0) return <span className={className}>none in {to}</span>;
  if (before === now) return <span className={className}>as many as in {to}</span>;
  const isMore = now > before;
  return (
    <span className={className}>
      {isMore ? <UpIcon size={14} /> : <DownIcon size={14} />}
      {`${number(Math.abs(now - before))} ${isMore ? 'more' : 'fewer'} than in ${to}`}
    </span>
  );
}

const MIN_DAYS = 14;

function LeadsByDay({ byDay: lastDays }: { readonly byDay: Figures['byDay'] }) {
  const first = lastDays.findIndex(({ leads }) => leads > 0);
  const byDay = lastDays.slice(Math.max(0, Math.min(first, lastDays.length - MIN_DAYS)));
  const all = byDay.reduce((sum, { leads }) => sum + leads, 0);
  const best = byDay.toSorted((one, other) => other.leads - one.leads)[0];
  const lastAt = byDay.length - 1;
  const bestAt = byDay.findIndex((day) => day === best);
  // Labels of neighbours would overlap on a phone.
  const isLastLabelled = bestAt === lastAt || bestAt < lastAt - 3;
  return (
    <Section title="Leads by day">
      {all === 0 || best === undefined ? (
        <p className="quiet">No leads in the last 30 days.</p>
      ) : (
        <Bars
          about={`${counted(all, 'lead')} in the last 30 days. The best day was ${dayName(best.day)}, with ${number(best.leads)}.`}
          bars={byDay.map(({ day, leads }, index) => ({
            name: dayName(day),
            value: leads,
            words: `${dayName(day)}: ${counted(leads, 'lead')}`,
            isLabelled: index === bestAt || (index === lastAt && isLastLabelled),
          }))}
        />
      )}
    </Section>
  );
}

type NewestLead = Figures['newest'][number];

const NEWEST_COLUMNS: readonly Column<NewestLead>[] = [
  {
    heading: 'Name',
    isMain: true,
    cell: ({ id, name }) => <Link href={urlOf('/person', { id })}>{name || NONE}</Link>,
  },
  { heading: 'Company', cell: ({ company }) => company || NONE },
  {
    heading: 'Source',
    cell: ({ source }) => source || NONE,
    isFilled: ({ source }) => source !== '',
  },
  { heading: 'Since', cell: ({ since }) => <DateTime at={since} isShort /> },
];

function Newest({ newest }: { readonly newest: readonly NewestLead[] }) {
  return (
    <Section title="Newest leads" actions={<Link href="/leads">All leads</Link>}>
      <Table
        caption="Newest leads"
        columns={NEWEST_COLUMNS}
        rows={newest}
        rowKey={({ id }) => id}
        empty={NO_LEADS}
        renderBlock={(person) => <PersonBlock person={person} />}
      />
    </Section>
  );
}

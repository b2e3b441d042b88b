import { today, type SpanFigures, type Steps, type ToDo } from '#desk/endpoints/figures.ts';
import type { Answer } from '#desk/endpoints/endpoint.ts';
import { Link } from '#desk/web/link.tsx';
import { useAsk } from '#desk/web/queries.ts';
import { changeOf, shareOf, type Change } from '#desk/web/today/change.ts';
import { Answered } from '#desk/web/ui/answered.tsx';
import { Bars, ShareBar } from '#desk/web/ui/bars.tsx';
import { dayName } from '#desk/web/ui/dates.ts';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { EmptyState } from '#desk/web/ui/empty-state.tsx';
import { DownIcon, NoteIcon, ProblemIcon, UpIcon, WarningIcon } from '#desk/web/ui/icons.tsx';
import { Page, Section } from '#desk/web/ui/page.tsx';
import { Table, type Column } from '#desk/web/ui/table.tsx';
import { counted, number, pages, parts, shortNumber, today as words } from '#desk/web/words.ts';
import styles from '#desk/web/today/today.module.css';

type Figures = Answer<typeof today>;

export function Today() {
  const answer = useAsk(today, {}, { refetchOnWindowFocus: true });
  return (
    <Page title={pages.today}>
      <Answered of={answer} lines={10}>
        {(data) => (
          <>
            <NeedsDoing toDo={data.toDo} />
            <div className={styles.spans}>
              {data.spans.map((span) => (
                <Span key={span.span} figures={span} />
              ))}
            </div>
            <Days byDay={data.byDay} />
            <Newest newest={data.newest} />
          </>
        )}
      </Answered>
    </Page>
  );
}

const SIGNS = { problem: ProblemIcon, warning: WarningIcon, note: NoteIcon } as const;

function NeedsDoing({ toDo }: { readonly toDo: readonly ToDo[] }) {
  return (
    <Section title={words.toDo}>
      {toDo.length === 0 ? (
        <p className={styles.nothing}>{words.nothingToDo}</p>
      ) : (
        <ul className={styles.toDo}>
          {toDo.map(({ state, sentence, page }) => {
            const Sign = SIGNS[state];
            return (
              <li key={sentence} className={styles[state]}>
                <Sign size={18} />
                <p>
                  <span className="unseen">{words.signs[state]}: </span>
                  {sentence}
                </p>
                <Link href={page}>
                  {words.look}
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

const STEPS = ['seen', 'opened', 'asked', 'leads', 'read'] as const satisfies readonly (keyof Steps)[];

function Span({ figures: { span, now, before } }: { readonly figures: SpanFigures }) {
  return (
    <section className={styles.span} aria-labelledby={`span-${span}`}>
      <h2 id={`span-${span}`}>{words.spans[span]}</h2>
      <p className={styles.leads}>
        <strong>{number(now.leads)}</strong> {words.leadsOf(now.leads)}
        <Compared change={changeOf(now.leads, before?.leads)} span={span} />
      </p>
      <dl className={styles.steps}>
        {STEPS.map((step, index) => {
          const value = now[step];
          const share = index === 0 ? null : shareOf(value, now[STEPS[index - 1]!]);
          const change = changeOf(value, before?.[step]);
          return (
            <div key={step}>
              <dt>{words.steps[step]}</dt>
              <dd>{value === null ? <span title={words.notKnown}>{parts.none}</span> : number(value)}</dd>
              <dd className={styles.change} title={words.comparedWith(span)}>
                {change !== null &&
                  change.direction !== 'same' &&
                  `${words.sign(change.direction)}${shortNumber(change.by)}`}
              </dd>
              <dd className={styles.shareOf}>
                {share !== null && (
                  <>
                    <ShareBar share={share} />
                    <span>{words.share(share)}</span>
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

function Compared({ change, span }: { readonly change: Change | null; readonly span: SpanFigures['span'] }) {
  if (change === null) return <span className={styles.compared}>{words.nothingBefore}</span>;
  const { direction, by } = change;
  return (
    <span className={styles.compared}>
      {direction === 'more' && <UpIcon size={14} />}
      {direction === 'less' && <DownIcon size={14} />}
      {words.compared(direction, by, span)}
    </span>
  );
}

function Days({ byDay }: { readonly byDay: Figures['byDay'] }) {
  const all = byDay.reduce((sum, { leads }) => sum + leads, 0);
  const best = byDay.toSorted((one, other) => other.leads - one.leads)[0];
  return (
    <Section title={words.days}>
      {all === 0 || best === undefined ? (
        <EmptyState text={words.noDays} />
      ) : (
        <Bars
          about={words.daysAbout(all, best.leads, dayName(best.day))}
          bars={byDay.map(({ day, leads }) => ({
            name: dayName(day),
            value: leads,
            words: `${dayName(day)}: ${counted(leads, 'lead')}`,
          }))}
        />
      )}
    </Section>
  );
}

type Newest = Figures['newest'][number];

const NEWEST: readonly Column<Newest>[] = [
  {
    id: 'name',
    heading: words.name,
    isMain: true,
    cell: ({ id, name }) => <Link href={`/person?id=${encodeURIComponent(id)}`}>{name || parts.none}</Link>,
  },
  { id: 'company', heading: words.company, cell: ({ company }) => company || parts.none },
  { id: 'source', heading: words.source, cell: ({ source }) => source || parts.none },
  { id: 'since', heading: words.since, cell: ({ since }) => <DateTime at={since} isShort /> },
];

function Newest({ newest }: { readonly newest: readonly Newest[] }) {
  return (
    <Section title={words.newest} actions={<Link href="/leads">{words.allLeads}</Link>}>
      {newest.length === 0 ? (
        <EmptyState text={words.noLeads} />
      ) : (
        <Table caption={words.newest} columns={NEWEST} rows={newest} rowKey={({ id }) => id} />
      )}
    </Section>
  );
}

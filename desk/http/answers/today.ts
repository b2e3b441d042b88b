// The first screen: how many came today, this week and this month, who came last, and what needs doing. Counts by index alone: it has to
// be quick with a million leads.
import type { Answer } from '#desk/calls/call.ts';
import type { Finding, Span, SpanFigures, Steps, today as todayCall, ToDo } from '#desk/calls/figures.ts';
import type { Handler } from '#desk/http/handler.ts';
import { shownPerson } from '#desk/people/selection.ts';
import { readPeriod, type Period } from '#desk/report/period.ts';
import { minuteOf } from '#desk/shown-time.ts';
import { sampleOnPage } from '#server/campaign/sample-on-page.ts';
import { countsBetween } from '#server/db/across/counts-between.ts';
import { lookForPeople } from '#server/db/across/lead-pages.ts';
import { firstFunnelDay, funnelSums } from '#server/db/tables/funnel-counts.ts';
import { countRefusals, findStandstill, outboxBacklog } from '#server/db/tables/outbox-waiting.ts';
import { countEvents } from '#server/db/tables/webhook-events.ts';
import type { createWriteCheck } from '#server/db/whole/database-health.ts';
import { knownSince } from '#server/figures/figures.ts';
import { WRITE_FAULTS } from '#server/http/write-faults.ts';
import { DAY_MS, isoTime, MINUTE_MS } from '#server/platform/time.ts';
import type { Service } from '#server/run/service.ts';
import type { FunnelStep } from '#shared/funnel.ts';

const SPANS: Readonly<Record<Span, string>> = { day: '1d', week: '7d', month: '30d' };
const DAYS_SHOWN = 30;
const NEWEST_SHOWN = 8;
const NEWEST_LOOK_MS = 50;
const STANDSTILL_MS = 2 * MINUTE_MS;
/** Greylisting puts mail off for some minutes. */
const WAITS_TOO_LONG_MS = 15 * MINUTE_MS;

/** @param parts findWriteFault: what keeps the database from taking writes. findings: the doctor's last, undefined: it has not looked yet */
export const createToday =
  (parts: {
    readonly findWriteFault: ReturnType<typeof createWriteCheck>;
    readonly findings: () => readonly Finding[] | undefined;
  }): Handler<typeof todayCall> =>
  async ({ service }) => {
    const { db } = service.database;
    const { people } = await lookForPeople(
      db,
      'verified',
      {},
      { from: null, most: NEWEST_SHOWN, forMs: NEWEST_LOOK_MS },
    );
    return {
      ...(await figuresOf(service)),
      newest: people.map(shownPerson).map(({ id, name, company, since, source }) => ({
        id,
        name,
        company,
        since,
        source,
      })),
      toDo: await toDoOf(service, parts),
    };
  };

async function figuresOf({
  database: { db },
  config,
  clock,
}: Pick<Service, 'database' | 'config' | 'clock'>): Promise<
  Pick<Answer<typeof todayCall>, 'spans' | 'byDay'>
> {
  const now = clock();
  const periods = (Object.entries(SPANS) as [Span, string][]).map(
    ([span, name]) => [span, readPeriod(name, now)!] as const,
  );
  const edges = periods.flatMap(([, { from, to, before }]) => [from, to, before.from, before.to]);
  const midnight = now - (now % DAY_MS);
  const days = Array.from({ length: DAYS_SHOWN }, (_, at) => midnight - (DAYS_SHOWN - 1 - at) * DAY_MS);
  const leadsIn = await counter(db, { table: 'leads', column: 'first_verified_at' }, [...edges, ...days]);
  // A challenge is what one browser asks for one address: asking again adds none.
  const askedIn = await counter(db, { table: 'challenges', column: 'created_at' }, edges);
  const since = knownSince(config.retention, now).codes;
  const viewsIn = await viewCounter(db, midnight);
  const stepsOf = (span: { readonly from: number; readonly to: number }) => ({
    asked: since > span.from ? null : askedIn(span),
    leads: leadsIn(span),
  });
  return {
    spans: periods.map(([span, period]): SpanFigures => {
      const { seen, opened, quarter } = viewsIn(period);
      const now_: Steps = { seen, opened, ...stepsOf(period), read: quarter };
      const before: Steps = { seen: null, opened: null, ...stepsOf(period.before), read: null };
      return { span, now: now_, before };
    }),
    byDay: days.map((from) => ({
      day: isoTime(from).slice(0, 10),
      leads: leadsIn({ from, to: from === midnight ? now + 1 : from + DAY_MS }),
    })),
  };
}

type Between = { readonly from: number; readonly to: number };

/** Counts rows once, and adds up those of any time between two of some moments. */
async function counter(
  db: Service['database']['db'],
  timed: Parameters<typeof countsBetween>[1],
  moments: readonly number[],
): Promise<(between: Between) => number> {
  const ordered = [...new Set(moments)].toSorted((a, b) => a - b);
  const counts = await countsBetween(db, timed, ordered);
  return ({ from, to }) =>
    counts.slice(ordered.indexOf(from), ordered.indexOf(to)).reduce((sum, count) => sum + count, 0);
}

type Views = Readonly<Record<'seen' | 'opened' | 'quarter', number | null>>;

/** @returns views of a period that ends now; null where they were not counted */
async function viewCounter(
  db: Service['database']['db'],
  midnight: number,
): Promise<(period: Pick<Period, 'from' | 'to'>) => Views> {
  const firstDay = await firstFunnelDay(db);
  const today = midnight / DAY_MS;
  const { days } = await funnelSums(db, { from: today - DAYS_SHOWN + 1, last: today, mostSources: 0 });
  const sumOf = (step: FunnelStep, from: number) =>
    days.reduce((sum, row) => sum + (row.step === step && row.day * DAY_MS >= from ? row.count : 0), 0);
  return ({ from, to }) =>
    firstDay === null || firstDay * DAY_MS >= to
      ? { seen: null, opened: null, quarter: null }
      : { seen: sumOf('seen', from), opened: sumOf('opened', from), quarter: sumOf('quarter', from) };
}

async function toDoOf(
  { database, clock, campaign, warnings }: Service,
  { findWriteFault, findings }: Parameters<typeof createToday>[0],
): Promise<readonly ToDo[]> {
  const { db, engine } = database;
  const now = clock();
  const fault = await findWriteFault();
  const problems = (findings() ?? []).filter(({ state }) => state === 'problem');
  return [
    ...(fault === null ? [] : [problem(WRITE_FAULTS[engine][fault], '/doctor')]),
    ...(await mailToDo(db, now)),
    ...(await eventsToDo(db)),
    ...problems.map(({ check, sentence }) => problem(`${check}: ${sentence}`, '/doctor')),
    ...sampleOnPage(campaign.folder).map((sentence) => warning(sentence, '/doctor')),
    ...warnings.map((sentence) => warning(sentence, '/doctor')),
  ];
}

const problem = (sentence: string, page: string): ToDo => ({ state: 'problem', sentence, page });
const warning = (sentence: string, page: string): ToDo => ({ state: 'warning', sentence, page });

const mails = (count: number): string => (count === 1 ? '1 mail' : `${count} mails`);

async function mailToDo(db: Service['database']['db'], now: number): Promise<readonly ToDo[]> {
  const toDo: ToDo[] = [];
  const { depth, oldestCreatedAt = now } = await outboxBacklog(db);
  const waits = `${mails(depth)} ${depth === 1 ? 'waits' : 'wait'}, the oldest since ${minuteOf(isoTime(oldestCreatedAt))} UTC`;
  const stuck = await findStandstill(db, { now, forMs: STANDSTILL_MS });
  if (stuck?.forEverybody)
    toDo.push(
      problem(
        `No mail has gone out for more than two minutes; ${waits}. Run the doctor: it says what the mail account answers.`,
        '/doctor',
      ),
    );
  else if (now - oldestCreatedAt >= WAITS_TOO_LONG_MS)
    toDo.push(warning(`${waits}. Look which mail servers put it off.`, '/mail'));
  const refused = await countRefusals(db, now - DAY_MS);
  if (refused > 0)
    toDo.push(
      warning(
        `${mails(refused)} of the last day ${refused === 1 ? 'was' : 'were'} refused for good. Look what the mail servers said.`,
        '/mail',
      ),
    );
  return toDo;
}

async function eventsToDo(db: Service['database']['db']): Promise<readonly ToDo[]> {
  const { dead } = await countEvents(db);
  if (dead === 0) return [];
  const were = dead === 1 ? '1 event for another program was' : `${dead} events for other programs were`;
  return [
    warning(
      `${were} given up. Mend the receiving program, then have ${dead === 1 ? 'it' : 'them'} sent again.`,
      '/mail',
    ),
  ];
}

// The first screen: how many came today, this week and this month, who came last, and what needs doing. Counts by index alone: it has to
// be quick with a million leads.
import type { Answer } from '#desk/calls/call.ts';
import type { Finding, Span, SpanFigures, today as todayCall, ToDo } from '#desk/calls/figures.ts';
import type { Between, DayCounts } from '#desk/http/answers/day-counts.ts';
import { createKept } from '#desk/http/answers/kept.ts';
import type { Handler } from '#desk/http/handler.ts';
import { shownPerson } from '#desk/people/selection.ts';
import { readPeriod, type Period } from '#desk/report/period.ts';
import { minuteOf } from '#desk/shown-time.ts';
import { sampleOnPage } from '#server/campaign/sample-on-page.ts';
import { lookForPeople } from '#server/db/people/pages.ts';
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
/** Greylisting puts mail off for up to five minutes; a code is given up once it has expired. */
const WAITS_TOO_LONG_MS = 6 * MINUTE_MS;

/** Reading the words takes a tenth of a second, and they change seldom. */
const SAMPLE_KEPT_MS = MINUTE_MS;

/** Makes what says what of the sample still stands on the page. */
export function createFindSample({ campaign, clock }: Pick<Service, 'campaign' | 'clock'>) {
  const kept = createKept<readonly string[]>({ keptMs: SAMPLE_KEPT_MS, most: 1, clock });
  return () => kept.get('', async () => sampleOnPage(campaign.folder));
}

/** @param parts dayCounts: counts rows. findSample: what of the sample stands on the page. findWriteFault: what keeps the database from taking writes. findings: the doctor's last, undefined: it has not looked yet */
export const createToday =
  (parts: {
    readonly dayCounts: DayCounts;
    readonly findSample: ReturnType<typeof createFindSample>;
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
      ...(await figuresOf(service, parts.dayCounts)),
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

/** How many came in each span and on each day. */
export async function figuresOf(
  { database: { db }, config, clock }: Pick<Service, 'database' | 'config' | 'clock'>,
  { countEach }: DayCounts,
): Promise<Pick<Answer<typeof todayCall>, 'spans' | 'byDay'>> {
  const now = clock();
  const periods = (Object.entries(SPANS) as [Span, string][]).map(
    ([span, name]) => [span, readPeriod(name, now)!] as const,
  );
  const spans = periods.flatMap(([, { from, to, before }]): Between[] => [{ from, to }, before]);
  const midnight = now - (now % DAY_MS);
  const days = Array.from({ length: DAYS_SHOWN }, (_, at) => {
    const from = midnight - (DAYS_SHOWN - 1 - at) * DAY_MS;
    return { from, to: from === midnight ? now + 1 : from + DAY_MS };
  });
  const leads = await countEach(LEADS, [...days, ...spans]);
  const since = knownSince(config.retention, now).codes;
  const known = spans.filter(({ from }) => from >= since);
  const asked = await countEach(CHALLENGES, known);
  const viewsIn = await viewCounter(db, midnight);
  const stepsOf = (span: Between) => ({
    asked: asked[known.indexOf(span)] ?? null,
    leads: leads[days.length + spans.indexOf(span)]!,
  });
  return {
    spans: periods.map(([span, period], at): SpanFigures => {
      const { seen, opened, quarter } = viewsIn(period);
      const [during, before] = [spans[2 * at]!, spans[2 * at + 1]!];
      return {
        span,
        now: { seen, opened, ...stepsOf(during), read: quarter },
        before: { seen: null, opened: null, ...stepsOf(before), read: null },
      };
    }),
    byDay: days.map(({ from }, at) => ({ day: isoTime(from).slice(0, 10), leads: leads[at]! })),
  };
}

const LEADS = { table: 'leads', column: 'first_verified_at' } as const;
/** A challenge is what one browser asks for one address: asking again adds none. */
const CHALLENGES = { table: 'challenges', column: 'created_at' } as const;

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
  { database, clock, warnings }: Service,
  { findWriteFault, findSample, findings }: Parameters<typeof createToday>[0],
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
    ...(await findSample()).map((sentence) => warning(sentence, '/doctor')),
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

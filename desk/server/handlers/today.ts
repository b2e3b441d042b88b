// All counts use indexes, so that they stay fast with a million leads.
import type { Answer } from '#desk/endpoints/endpoint.ts';
import type { Span, SpanFigures, today as todayCall } from '#desk/endpoints/figures.ts';
import type { Between, DayCounts } from '#desk/server/handlers/day-counts.ts';
import { toDoOf, type ToDoParts } from '#desk/server/handlers/to-do.ts';
import type { Handler } from '#desk/server/handler.ts';
import { shownPerson } from '#desk/people/selection.ts';
import { readPeriod, type Period } from '#desk/report/period.ts';
import { lookForPeople } from '#server/db/contacts/people.ts';
import { firstFunnelDay, funnelSums } from '#server/db/tables/counts.ts';
import { knownSince } from '#server/stats/stats.ts';
import { DAY_MS, isoTime } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';
import type { FunnelStep } from '#shared/funnel.ts';

const SPANS: Readonly<Record<Span, string>> = { day: '1d', week: '7d', month: '30d' };
const DAYS_SHOWN = 30;
const NEWEST_SHOWN = 8;
const NEWEST_LOOK_MS = 50;

export const createToday =
  (parts: ToDoParts & { readonly dayCounts: DayCounts }): Handler<typeof todayCall> =>
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
  const leads = await countEach('leads', [...days, ...spans]);
  const since = knownSince(config.retention, now).codes;
  const known = spans.filter(({ from }) => from >= since);
  // Counted once per browser and e-mail address, however often a code is requested.
  const asked = await countEach('submissions', known);
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

type Views = Readonly<Record<'seen' | 'opened' | 'quarter', number | null>>;

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

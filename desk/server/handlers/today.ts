// All counts use indexes, so that they stay fast with a million leads.
import type { OutputOf } from '#desk/endpoints/endpoint.ts';
import type { Span, SpanFigures, today as todayEndpoint } from '#desk/endpoints/figures.ts';
import type { Between, CountEach } from '#desk/server/handlers/day-counts.ts';
import { toDoOf, type ToDoParts } from '#desk/server/handlers/to-do.ts';
import type { Handler } from '#desk/server/handler.ts';
import { toPerson } from '#desk/people/selection.ts';
import { readPeriod } from '#desk/report/period.ts';
import { searchContacts } from '#server/db/contacts/people.ts';
import { firstFunnelDay, funnelSums } from '#server/db/tables/counts.ts';
import { knownSince } from '#server/stats/stats.ts';
import type { Service } from '#server/startup/service.ts';
import { dayAsText, dayOf, startOfDay } from '#shared/days.ts';
import type { FunnelStep } from '#shared/funnel.ts';

const SPANS: Readonly<Record<Span, string>> = { day: '1d', week: '7d', month: '30d' };
const DAYS_SHOWN = 30;
const NEWEST_SHOWN = 8;
const NEWEST_SEARCH_LIMIT_MS = 50;

export const createToday =
  (parts: ToDoParts & { readonly countEach: CountEach }): Handler<typeof todayEndpoint> =>
  async ({ service, log }) => {
    const { db } = service.database;
    const { found } = await searchContacts(
      db,
      'verified',
      {},
      { cursor: null, limit: NEWEST_SHOWN, timeLimitMs: NEWEST_SEARCH_LIMIT_MS },
    );
    if (found.length > 0)
      // A read-only database must not hide the overview, which reports this problem.
      await log('viewed', null, 'list: newest leads').catch((error: unknown) =>
        service.logger.error(
          { err: error },
          'A view of the newest leads could not be written to the audit log.',
        ),
      );
    return {
      ...(await figuresOf(service, parts.countEach)),
      newest: found.map(toPerson).map(({ id, name, company, since, source }) => ({
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
  countEach: CountEach,
): Promise<Pick<OutputOf<typeof todayEndpoint>, 'spans' | 'byDay'>> {
  const now = clock();
  const { timeZone } = config;
  const periods = (Object.entries(SPANS) as [Span, string][]).map(
    ([span, name]) => [span, readPeriod(name, now, timeZone)!] as const,
  );
  const spans = periods.flatMap(([, { from, to, before }]): Between[] => [{ from, to }, before]);
  const today = dayOf(now, timeZone);
  const days = Array.from({ length: DAYS_SHOWN }, (_, at) => {
    const day = today - (DAYS_SHOWN - 1 - at);
    const [from, end] = [startOfDay(day, timeZone), startOfDay(day + 1, timeZone)];
    return { day, from, to: day === today ? now + 1 : end };
  });
  const leads = await countEach('leads', [...days, ...spans]);
  const since = knownSince(config.retention, now, timeZone).codes;
  const known = spans.filter(({ from }) => from >= since);
  // Counted once per browser and e-mail address, however often a code is requested.
  const asked = await countEach('submissions', known);
  const daysWithLeads = days.flatMap(({ day }, at) => (leads[at]! > 0 ? [day] : []));
  const viewsIn = await viewCounter(db, today, daysWithLeads);
  const stepsOf = (span: Between) => ({
    asked: asked[known.indexOf(span)] ?? null,
    leads: leads[days.length + spans.indexOf(span)]!,
  });
  return {
    spans: periods.map(([span, period], at): SpanFigures => {
      const { seen, opened, quarter } = viewsIn(dayOf(period.from, timeZone));
      const [during, before] = [spans[2 * at]!, spans[2 * at + 1]!];
      return {
        span,
        now: { seen, opened, ...stepsOf(during), read: quarter },
        before: { seen: null, opened: null, ...stepsOf(before), read: null },
      };
    }),
    byDay: days.map(({ day }, at) => ({ day: dayAsText(day), leads: leads[at]! })),
  };
}

type Views = Readonly<Record<'seen' | 'opened' | 'quarter', number | null>>;

/** Views are unknown for a span with leads from before the first view, or with leads but no views. */
async function viewCounter(
  db: Service['database']['db'],
  today: number,
  daysWithLeads: readonly number[],
): Promise<(from: number) => Views> {
  const firstDay = await firstFunnelDay(db);
  const { days } = await funnelSums(db, { from: today - DAYS_SHOWN + 1, last: today, maxSources: 0 });
  const sumOf = (step: FunnelStep, from: number) =>
    days.reduce((sum, row) => sum + (row.step === step && row.day >= from ? row.count : 0), 0);
  return (from) => {
    const firstLead = daysWithLeads.find((day) => day >= from);
    const isKnown =
      firstDay !== null &&
      firstDay <= today &&
      (firstLead === undefined || (firstLead >= firstDay && days.some(({ day }) => day >= from)));
    return isKnown
      ? { seen: sumOf('seen', from), opened: sumOf('opened', from), quarter: sumOf('quarter', from) }
      : { seen: null, opened: null, quarter: null };
  };
}

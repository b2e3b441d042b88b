// Statistics without personal data. Groups are read in slices and added up in bounded memory.
import { isFrom, type Origin, OTHERS } from '#server/attribution/attribution.ts';
import type { Db } from '#server/db/engine/connect.ts';
import {
  askedGroups,
  type CodeStatus,
  type Group,
  leadGroups,
  type Span,
} from '#server/db/queries/report-figures.ts';
import { firstFunnelDay, funnelSums } from '#server/db/tables/counts.ts';
import { DAY_MS, isoTime } from '#server/platform/time.ts';
import { dayAsText, dayOf, startOfDay } from '#shared/days.ts';
import {
  addAsked,
  addLeads,
  addTo,
  addViews,
  bySize,
  type Counts,
  emptyCount,
  noSums,
  type PeopleCount,
  peopleIn,
  rowsOf,
  SOURCES_COUNTED,
  type Sums,
  sumsAt,
} from '#server/stats/count-people.ts';
import type { MailPlatform, PlatformLookup } from '#server/stats/mail-platforms.ts';
import { type FunnelStep, READ_STEPS } from '#shared/funnel.ts';

export type Row = Counts & { readonly name: string };
type Seen = { readonly seen: number | null };

type CodeStep = 'asked' | 'mailed' | 'entered';
/** Steps that involve codes count people; the others count occurrences. */
export type Step =
  | { readonly step: CodeStep; readonly people: number }
  | { readonly step: FunnelStep; readonly times: number };

export const countOf = (step: Step): number => ('people' in step ? step.people : step.times);

/** Numbers about codes are null if the codes have been deleted. */
export type Figures = {
  /** ISO 8601; null if codes are known for the whole span. */
  readonly codesFrom: string | null;
  /** ISO 8601; null unless mail is known for a shorter part of the span than codes. */
  readonly mailFrom: string | null;
  /** Set only if other data goes back further. */
  readonly viewsFrom: string | null;
  readonly leads: number;
  readonly funnel: readonly Step[] | null;
  readonly timeToEnter: TimeToEnter | null;
  readonly notEntered: readonly {
    readonly status: Exclude<CodeStatus, 'entered'>;
    readonly people: number;
  }[];
  readonly byDay: readonly (Counts & Seen & { readonly day: string; readonly days: number })[];
  readonly bySource: readonly (Row & Seen)[];
  readonly byPlatform: readonly Row[];
};

export type Selection = Origin & { readonly variant?: string | undefined };

/** 0 means forever. */
type Retention = { readonly unverifiedDays: number; readonly mailDays: number };

export type FiguresOptions = {
  readonly retention: Retention;
  readonly now: number;
  readonly timeZone: string;
  readonly withViews: boolean;
  /** Views are not known by campaign or by variant, so they are missing if one of these is selected. */
  readonly only?: Selection | undefined;
  readonly platformsOf: PlatformLookup['platformsOf'] | null;
  /** Receives the number of people counted since the last call. May throw to stop counting. */
  readonly onCounted: (people: number) => void;
};

/** Both included. */
type Days = { readonly first: number; readonly last: number };

const SOURCES_SHOWN = 12;
/** Longer periods are shown by week. */
const DAYS_SHOWN = 92;

/** Returns the beginning of the first day whose data is still completely stored. */
export function knownSince(
  retention: Retention,
  now: number,
  timeZone: string,
): { codes: number; mail: number } {
  const since = (days: number) =>
    days === 0 ? 0 : startOfDay(dayOf(now - days * DAY_MS - 1, timeZone) + 1, timeZone);
  return { codes: since(retention.unverifiedDays), mail: since(retention.mailDays) };
}

export async function gatherFigures(
  db: Db,
  span: Span,
  { retention, now, timeZone, withViews, only = {}, platformsOf, onCounted }: FiguresOptions,
): Promise<Figures> {
  const since = knownSince(retention, now, timeZone);
  const days = { first: dayOf(span.from, timeZone), last: dayOf(span.to - 1, timeZone) };
  const codesSpan = { from: Math.max(span.from, since.codes), to: span.to };
  // The same part of the day before is empty if the clocks skipped it.
  const areCodesKept = codesSpan.from === span.from || codesSpan.from < span.to;
  const count = emptyCount();
  const isWanted = ({ attribution }: Group) => isFrom(attribution, only);
  if (areCodesKept)
    for await (const groups of askedGroups(db, { ...codesSpan, variant: only.variant, timeZone }, now))
      onCounted(addAsked(count, groups.filter(isWanted)));
  for await (const groups of leadGroups(db, { ...span, variant: only.variant, timeZone }))
    onCounted(addLeads(count, groups.filter(isWanted)));
  const areViewsWanted = withViews && only.campaign === undefined && only.variant === undefined;
  /** Null if no view has been counted. */
  const firstDayOfViews = areViewsWanted ? await firstFunnelDay(db) : null;
  const viewSpan = { from: days.first, last: days.last, maxSources: SOURCES_COUNTED, source: only.source };
  const mayHaveViews = firstDayOfViews !== null && firstDayOfViews <= days.last;
  const found = mayHaveViews ? await funnelSums(db, viewSpan) : null;
  // People without a single view mean that views were not counted.
  const views = found?.days.length === 0 && count.days.size > 0 ? null : found;
  if (views !== null) addViews(count, views);

  const timesOf = (step: FunnelStep) =>
    (views?.days ?? []).reduce((sum, row) => (row.step === step ? sum + row.count : sum), 0);
  const viewSteps = (...steps: readonly FunnelStep[]): Step[] =>
    views === null ? [] : steps.map((step) => ({ step, times: timesOf(step) }));
  const funnel = [
    ...viewSteps('seen', 'opened'),
    ...(areCodesKept ? codeSteps(count) : []),
    ...viewSteps(...READ_STEPS),
  ];
  return {
    codesFrom: since.codes > span.from ? isoTime(since.codes) : null,
    mailFrom: since.mail > Math.max(span.from, since.codes) ? isoTime(since.mail) : null,
    viewsFrom:
      firstDayOfViews !== null && hasPeopleBefore(firstDayOfViews, count)
        ? isoTime(startOfDay(firstDayOfViews, timeZone))
        : null,
    leads: count.total.leads,
    funnel: funnel.length === 0 ? null : funnel,
    timeToEnter: timeToEnter(count.secondsToEnter),
    notEntered: statusRows(count.statuses),
    byDay: dayRows(count.days, days, views === null ? null : firstDayOfViews),
    bySource: sourceRows(count.sources).map((row) => (views === null ? { ...row, seen: null } : row)),
    byPlatform: platformsOf === null ? [] : await platformRows(count.domains, platformsOf),
  };
}

const codeSteps = ({ total, mailed }: PeopleCount): Step[] => [
  { step: 'asked', people: total.asked },
  { step: 'mailed', people: mailed },
  { step: 'entered', people: total.entered },
];

const hasPeopleBefore = (firstDay: number, { days }: PeopleCount): boolean =>
  days.entries().some(([day, sums]) => day < firstDay && peopleIn(sums) > 0);

const statusRows = (statuses: PeopleCount['statuses']): Figures['notEntered'] =>
  [...statuses]
    .flatMap(([status, people]) => (status === 'entered' || people <= 0 ? [] : [{ status, people }]))
    .toSorted((a, b) => b.people - a.people || (a.status < b.status ? -1 : 1));

function sourceRows(sources: PeopleCount['sources']): (Row & { seen: number })[] {
  const rows = rowsOf(sources, OTHERS).filter((row) => peopleIn(row) + row.seen > 0);
  if (rows.length <= SOURCES_SHOWN) return rows;
  const others = noSums();
  for (const row of rows.slice(SOURCES_SHOWN)) addTo(others, row);
  return [...rows.slice(0, SOURCES_SHOWN), { name: OTHERS, ...others }];
}

async function platformRows(
  domains: PeopleCount['domains'],
  platformsOf: PlatformLookup['platformsOf'],
): Promise<readonly Row[]> {
  const found = await platformsOf(new Map([...domains].map(([domain, sums]) => [domain, peopleIn(sums)])));
  const platforms = new Map<MailPlatform, Sums>();
  for (const [domain, sums] of domains) addTo(sumsAt(platforms, found.get(domain) ?? 'other'), sums);
  return [...platforms]
    .flatMap(([name, sums]) => (peopleIn(sums) > 0 ? [{ name, ...sums }] : []))
    .toSorted(bySize)
    .map(({ seen: _seen, ...row }) => row);
}

function dayRows(
  days: PeopleCount['days'],
  { first, last }: Days,
  firstDayOfViews: number | null,
): Figures['byDay'] {
  const step = last - first < DAYS_SHOWN ? 1 : 7;
  const rows: Figures['byDay'][number][] = [];
  for (let day = first; day <= last; day += step) {
    const until = Math.min(day + step - 1, last);
    const sums = noSums();
    for (let at = day; at <= until; at += 1) addTo(sums, days.get(at) ?? noSums());
    const seen = firstDayOfViews !== null && until >= firstDayOfViews ? sums.seen : null;
    rows.push({ day: dayAsText(day), days: until - day + 1, ...sums, seen });
  }
  return rows;
}

type TimeToEnter = {
  readonly people: number;
  readonly p50Seconds: number;
  readonly p95Seconds: number;
  /** Each group begins where the previous one ends. Null means no upper bound. */
  readonly groups: readonly { readonly belowSeconds: number | null; readonly people: number }[];
};

const GROUPS_SECONDS = [15, 30, 60, 120, 300, 600];

function timeToEnter(peopleBySeconds: ReadonlyMap<number, number>): TimeToEnter | null {
  const sorted = [...peopleBySeconds].toSorted(([a], [b]) => a - b);
  const people = sorted.reduce((sum, [, count]) => sum + count, 0);
  if (people === 0) return null;
  const quantile = (share: number): number => {
    let reached = 0;
    const [seconds] = sorted.find(([, count]) => (reached += count) >= share * people)!;
    return seconds;
  };
  const countIn = (from: number, below: number) =>
    sorted.reduce((sum, [seconds, count]) => (seconds >= from && seconds < below ? sum + count : sum), 0);
  const groups = [...GROUPS_SECONDS, null].map((belowSeconds, index) => ({
    belowSeconds,
    people: countIn(GROUPS_SECONDS[index - 1] ?? 0, belowSeconds ?? Number.POSITIVE_INFINITY),
  }));
  return { people, p50Seconds: quantile(0.5), p95Seconds: quantile(0.95), groups };
}

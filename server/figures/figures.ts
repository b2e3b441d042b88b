// What the report is made of: counts and sources, nothing about anybody. Groups come from the database a slice at a time and are
// added up here, in memory that does not grow with them.
import type { CodeFate } from '#server/db/across/code-fates.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { firstFunnelDay, funnelSums } from '#server/db/tables/funnel-counts.ts';
import { askedGroups, countLeads, leadGroups, type Span } from '#server/db/across/report-figures.ts';
import { ERASED, OTHERS, readAttribution, shownSource, sourceOf } from '#server/attribution/source.ts';
import { MAIL_PLATFORMS, type MailPlatform } from '#server/figures/mail-platforms.ts';
import type { Period } from '#server/figures/period.ts';
import type { PlatformLookup } from '#server/figures/mail-platform-lookup.ts';
import { DAY_MS, isoTime } from '#server/platform/time.ts';
import { READ_STEPS, type FunnelStep } from '#shared/funnel.ts';

/** People who asked for a code; how many of them entered one; and addresses that are new among the leads. */
export type Counts = { readonly asked: number; readonly entered: number; readonly leads: number };
export type Row = Counts & { readonly name: string };

/** How often the page was seen; null where that was not counted. */
type Seen = { readonly seen: number | null };

export type CodeStep = 'asked' | 'mailed' | 'entered';
/** A step of the funnel, in their order: those with codes know people, the others only how often they were taken. */
export type Step =
  | { readonly step: CodeStep; readonly people: number }
  | { readonly step: FunnelStep; readonly times: number };

type TimeToEnter = {
  readonly people: number;
  readonly p50Seconds: number;
  readonly p95Seconds: number;
  /** How many took less than so many seconds, and no less than the one before; null: any longer. */
  readonly groups: readonly { readonly belowSeconds: number | null; readonly people: number }[];
};

/** What is known about a span. What hangs on codes is null when they are no longer kept. */
export type Figures = {
  readonly leads: number;
  /** The steps that are known; null when none is. */
  readonly funnel: readonly Step[] | null;
  readonly timeToEnter: TimeToEnter | null;
  readonly notEntered: readonly { readonly fate: Exclude<CodeFate, 'entered'>; readonly people: number }[];
  readonly byDay: readonly (Counts & Seen & { readonly day: string; readonly days: number })[];
  readonly bySource: readonly (Row & Seen)[];
  readonly byPlatform: readonly Row[];
};

export type Report = {
  readonly title: string;
  readonly writtenAt: string;
  readonly period: { readonly name: string; readonly from: string; readonly to: string };
  /** From when on codes are known, if that is later than the period begins: those of before are no longer kept. */
  readonly codesFrom: string | null;
  /** The same for mail. */
  readonly mailFrom: string | null;
  /** From when on views are known, if something else is known of the time before. */
  readonly viewsFrom: string | null;
  /** Without views. */
  readonly before: { readonly name: string; readonly from: string; readonly to: string } & Pick<
    Figures,
    'leads' | 'funnel' | 'timeToEnter'
  >;
} & Figures;

/** Days that codes and mail are kept for; 0: for ever. */
type Retention = { readonly unverifiedDays: number; readonly mailDays: number };

/** Of an address that was erased, and of those that were too many to count. */
const UNKNOWN_DOMAIN = '';
const SOURCES_SHOWN = 12;
/** Sources are typed by strangers: so many names are counted one by one, more go to the others. */
const SOURCES_COUNTED = 5_000;
/** Domains are typed by strangers, too. */
const DOMAINS_COUNTED = 20_000;
/** More days than that are shown by the week. */
const DAYS_SHOWN = 92;
const TIME_GROUPS_SECONDS = [15, 30, 60, 120, 300, 600];

/**
 * Counts what a report says about a period and the one before.
 * @param options platformsOf: who runs the mail of domains. now: milliseconds since 1970. onProgress: told how many people were counted so far; may throw to end it
 */
export async function gatherReport(
  database: Pick<OpenDatabase, 'db' | 'engine'>,
  period: Period,
  {
    title,
    retention,
    now,
    platformsOf,
    onProgress = () => {},
  }: {
    title: string;
    retention: Retention;
    now: number;
    platformsOf: PlatformLookup['platformsOf'];
    onProgress?: (people: number) => void;
  },
): Promise<Report> {
  let counted = 0;
  const onCounted = (people: number) => onProgress((counted += people));
  const keptFrom = (days: number) => (days === 0 ? 0 : nextDay(now - days * DAY_MS));
  const codesFrom = keptFrom(retention.unverifiedDays);
  const mailFrom = keptFrom(retention.mailDays);
  const { from, to, before } = period;
  const views = await gatherViews(database.db, period);
  const figures = await gatherFigures(database, period, { codesFrom, now, onCounted, views, platformsOf });
  // A part of the period before would be compared with the whole of this one.
  const isBeforeKept = codesFrom <= before.from;
  const { leads, funnel, timeToEnter } = isBeforeKept
    ? await gatherFigures(database, before, { codesFrom, now, onCounted, views: null, platformsOf: null })
    : { leads: await countLeads(database.db, before), funnel: null, timeToEnter: null };
  return {
    title,
    writtenAt: isoTime(now),
    period: { name: period.name, from: isoTime(from), to: isoTime(to) },
    codesFrom: codesFrom > from ? isoTime(codesFrom) : null,
    mailFrom: mailFrom > Math.max(from, codesFrom) ? isoTime(mailFrom) : null,
    viewsFrom:
      views !== null &&
      figures.byDay.some((row) => isBefore(row, views.firstDay) && row.asked + row.leads > 0)
        ? isoTime(views.firstDay * DAY_MS)
        : null,
    ...figures,
    before: {
      name: period.beforeName,
      from: isoTime(before.from),
      to: isoTime(before.to),
      leads,
      funnel,
      timeToEnter: mailFrom > before.from ? null : timeToEnter,
    },
  };
}

/** What was counted of a span, in days since 1970; all of it lies on the first day or later. */
type Views = {
  readonly firstDay: number;
  readonly days: ReadonlyMap<number, number>;
  readonly steps: ReadonlyMap<string, number>;
  readonly sources: ReadonlyMap<string, number>;
};

/** @returns null when nothing was ever counted */
async function gatherViews(db: OpenDatabase['db'], { from, to }: Span): Promise<Views | null> {
  const firstDay = await firstFunnelDay(db);
  if (firstDay === null) return null;
  const sums = await funnelSums(db, {
    from: Math.floor(from / DAY_MS),
    last: Math.floor((to - 1) / DAY_MS),
    mostSources: SOURCES_COUNTED,
  });
  const days = new Map<number, number>();
  const steps = new Map<string, number>();
  for (const { day, step, count } of sums.days) {
    if (step === 'seen') days.set(day, count);
    steps.set(step, (steps.get(step) ?? 0) + count);
  }
  const sources = new Map(sums.sources.map(({ source, count }) => [source, count]));
  const named = sums.sources.reduce((sum, { count }) => sum + count, 0);
  sources.set(OTHERS, (sources.get(OTHERS) ?? 0) + (steps.get('seen') ?? 0) - named);
  return { firstDay, days, steps, sources };
}

const isBefore = ({ day, days }: { readonly day: string; readonly days: number }, firstDay: number) =>
  Date.parse(day) / DAY_MS + days <= firstDay;

/**
 * @param options codesFrom: from when on codes are known; milliseconds since 1970, like now. views: null leaves them out. platformsOf: null
 * when nobody asks for them
 */
async function gatherFigures(
  database: Pick<OpenDatabase, 'db' | 'engine'>,
  span: Span,
  {
    codesFrom,
    now,
    onCounted,
    views,
    platformsOf,
  }: {
    codesFrom: number;
    now: number;
    onCounted: (people: number) => void;
    views: Views | null;
    platformsOf: PlatformLookup['platformsOf'] | null;
  },
): Promise<Figures> {
  const days = new Map<number, Tally>();
  const domains = new Map<string, Tally>();
  const sources = new Map<string, Tally>();
  const fates = new Map<CodeFate, number>();
  const seconds = new Map<number, number>();
  let mailed = 0;
  const total = newTally();

  const tell = (groups: readonly { readonly people: number }[]) =>
    onCounted(groups.reduce((sum, { people }) => sum + people, 0));
  const add = (group: GroupKeys, kind: keyof Counts, people: number) => {
    total[kind] += people;
    tallyIn(days, group.day)[kind] += people;
    if (platformsOf !== null) tallyIn(domains, group.domain)[kind] += people;
    tallyIn(sources, sourceName(group.attribution))[kind] += people;
  };
  const codes = { from: Math.max(span.from, codesFrom), to: span.to };
  const areCodesKept = codes.from < codes.to;
  if (areCodesKept) {
    for await (const groups of askedGroups(database, codes, now)) {
      for (const group of groups) {
        const { fate, people } = group;
        add(group, 'asked', people);
        if (fate === 'entered') add(group, 'entered', people);
        if (fate === 'entered' || group.mailed === 1) mailed += people;
        fates.set(fate, (fates.get(fate) ?? 0) + people);
        if (group.seconds !== null) {
          const key = Math.max(0, group.seconds);
          seconds.set(key, (seconds.get(key) ?? 0) + people);
        }
      }
      keepLargest(sources, SOURCES_COUNTED, OTHERS);
      keepLargest(domains, DOMAINS_COUNTED, UNKNOWN_DOMAIN);
      tell(groups);
    }
  }
  for await (const groups of leadGroups(database, span)) {
    for (const group of groups) add(group, 'leads', group.people);
    keepLargest(sources, SOURCES_COUNTED, OTHERS);
    keepLargest(domains, DOMAINS_COUNTED, UNKNOWN_DOMAIN);
    tell(groups);
  }
  fates.delete('entered');
  for (const [day, times] of views?.days ?? []) tallyIn(days, day).seen += times;
  for (const [source, times] of views?.sources ?? []) tallyIn(sources, source).seen += times;
  keepLargest(sources, SOURCES_COUNTED, OTHERS);
  const areViewsKnown = views !== null && views.firstDay * DAY_MS < span.to;
  const taken = (step: FunnelStep): Step[] =>
    areViewsKnown ? [{ step, times: views.steps.get(step) ?? 0 }] : [];
  const funnel: Step[] = [
    ...taken('seen'),
    ...taken('opened'),
    ...(areCodesKept
      ? ([
          { step: 'asked', people: total.asked },
          { step: 'mailed', people: mailed },
          { step: 'entered', people: total.entered },
        ] as const)
      : []),
    ...READ_STEPS.flatMap(taken),
  ];
  return {
    leads: total.leads,
    funnel: funnel.length === 0 ? null : funnel,
    timeToEnter: timesOf(seconds),
    notEntered: [...fates]
      .filter(([, people]) => people > 0)
      .map(([fate, people]) => ({ fate: fate as Exclude<CodeFate, 'entered'>, people }))
      .toSorted((a, b) => b.people - a.people || (a.fate < b.fate ? -1 : 1)),
    byDay: daysOf(days, span, views?.firstDay ?? null),
    bySource: largestSources(sources).map((row) => (areViewsKnown ? row : { ...row, seen: null })),
    byPlatform: platformsOf === null ? [] : await platformRows(domains, platformsOf),
  };
}

async function platformRows(
  domains: ReadonlyMap<string, Tally>,
  platformsOf: PlatformLookup['platformsOf'],
): Promise<readonly Row[]> {
  const found = await platformsOf(
    new Map([...domains].map(([domain, tally]) => [domain, weightOf(tally)] as const)),
  );
  const platforms = new Map<MailPlatform, Tally>();
  for (const [domain, tally] of domains) addTo(tallyIn(platforms, found.get(domain) ?? 'other'), tally);
  return (
    MAIL_PLATFORMS.flatMap((name) => {
      const tally = platforms.get(name);
      return tally && weightOf(tally) > 0 ? [{ name, ...tally }] : [];
    })
      .toSorted(byWeight)
      // Who only looks at the page has no address.
      .map(({ seen: _none, ...row }) => row)
  );
}

type GroupKeys = { readonly day: number; readonly attribution: string | null; readonly domain: string };
type Tally = { -readonly [Name in keyof Counts]: Counts[Name] } & { seen: number };
type NamedTally = Readonly<Tally> & { readonly name: string };

const newTally = (): Tally => ({ seen: 0, asked: 0, entered: 0, leads: 0 });

function tallyIn<Key>(tallies: Map<Key, Tally>, key: Key): Tally {
  let tally = tallies.get(key);
  if (tally === undefined) tallies.set(key, (tally = newTally()));
  return tally;
}

const sourceName = (attribution: string | null): string =>
  attribution === null ? ERASED : shownSource(sourceOf(readAttribution(attribution)));

const isAnything = (tally: Readonly<Tally>): boolean => weightOf(tally) + tally.seen > 0;
const weightOf = ({ asked, leads }: Counts): number => asked + leads;
/** What strangers can do by looking comes after what takes an address. */
const byWeight = (a: NamedTally, b: NamedTally): number =>
  Number(a.name === OTHERS) - Number(b.name === OTHERS) ||
  weightOf(b) - weightOf(a) ||
  b.seen - a.seen ||
  (a.name < b.name ? -1 : 1);

function addTo(tally: Tally, counts: Readonly<Tally>): void {
  tally.seen += counts.seen;
  tally.asked += counts.asked;
  tally.entered += counts.entered;
  tally.leads += counts.leads;
}

/** Once there are too many names, the half with the fewest people goes to the others. */
function keepLargest(tallies: Map<string, Tally>, limit: number, others: string): void {
  if (tallies.size <= limit) return;
  const smallest = rowsOf(tallies).slice(Math.floor(limit / 2));
  for (const { name, ...counts } of smallest) {
    if (name === others) continue;
    addTo(tallyIn(tallies, others), counts);
    tallies.delete(name);
  }
}

const rowsOf = (tallies: ReadonlyMap<string, Tally>): NamedTally[] =>
  [...tallies].map(([name, tally]) => ({ name, ...tally })).toSorted(byWeight);

function largestSources(sources: ReadonlyMap<string, Tally>): NamedTally[] {
  const rows = rowsOf(sources);
  const named = rows.filter((row) => row.name !== OTHERS && isAnything(row));
  const others = newTally();
  for (const row of [...named.slice(SOURCES_SHOWN), ...rows.filter(({ name }) => name === OTHERS)])
    addTo(others, row);
  return [...named.slice(0, SOURCES_SHOWN), ...(isAnything(others) ? [{ name: OTHERS, ...others }] : [])];
}

/** Every day of the span, or every week of it. */
function daysOf(
  days: ReadonlyMap<number, Tally>,
  { from, to }: Span,
  firstDayOfViews: number | null,
): Figures['byDay'] {
  const first = Math.floor(from / DAY_MS);
  const last = Math.floor((to - 1) / DAY_MS);
  const step = last - first < DAYS_SHOWN ? 1 : 7;
  const rows: Figures['byDay'][number][] = [];
  for (let day = first; day <= last; day += step) {
    const tally = newTally();
    const until = Math.min(day + step - 1, last);
    for (let at = day; at <= until; at += 1) addTo(tally, days.get(at) ?? newTally());
    const isCounted = firstDayOfViews !== null && until >= firstDayOfViews;
    rows.push({
      day: isoTime(day * DAY_MS).slice(0, 10),
      days: until - day + 1,
      ...tally,
      seen: isCounted ? tally.seen : null,
    });
  }
  return rows;
}

function timesOf(seconds: ReadonlyMap<number, number>): TimeToEnter | null {
  const sorted = [...seconds].toSorted(([a], [b]) => a - b);
  const people = sorted.reduce((sum, [, count]) => sum + count, 0);
  if (people === 0) return null;
  const quantile = (share: number): number => {
    let reached = 0;
    for (const [time, count] of sorted) {
      reached += count;
      if (reached >= share * people) return time;
    }
    return 0;
  };
  const countIn = (from: number, below: number) =>
    sorted.reduce((sum, [time, count]) => (time >= from && time < below ? sum + count : sum), 0);
  const groups = [...TIME_GROUPS_SECONDS, null].map((belowSeconds, index) => ({
    belowSeconds,
    people: countIn(TIME_GROUPS_SECONDS[index - 1] ?? 0, belowSeconds ?? Number.POSITIVE_INFINITY),
  }));
  return { people, p50Seconds: quantile(0.5), p95Seconds: quantile(0.95), groups };
}

const nextDay = (ms: number): number => Math.ceil(ms / DAY_MS) * DAY_MS;

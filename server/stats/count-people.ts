// Sums people by day, source and mail domain in bounded memory.
import type { CodeFate, AskedGroup, Group } from '#server/db/queries/report-figures.ts';
import { ERASED, OTHERS, readAttribution, shownSource, sourceOf } from '#server/attribution/source.ts';
import type { PageViews } from '#server/stats/page-views.ts';
import { keepLargest, noSums, sumsAt, type Counts, type Sums } from '#server/stats/counts-by-key.ts';

/** Sources are typed by strangers; beyond this, the smallest are counted as OTHERS. */
export const SOURCES_COUNTED = 5_000;
const DOMAINS_COUNTED = 20_000;
/** The domain of erased e-mail addresses and of the smallest domains. */
const UNKNOWN_DOMAIN = '';

export type PeopleCount = {
  readonly total: Sums;
  mailed: number;
  /** Keys are days since 1970. */
  readonly days: Map<number, Sums>;
  readonly sources: Map<string, Sums>;
  readonly domains: Map<string, Sums>;
  readonly fates: Map<CodeFate, number>;
  /** Number of people by seconds. */
  readonly secondsToEnter: Map<number, number>;
};

export const emptyCount = (): PeopleCount => ({
  total: noSums(),
  mailed: 0,
  days: new Map(),
  sources: new Map(),
  domains: new Map(),
  fates: new Map(),
  secondsToEnter: new Map(),
});

export function addAsked(count: PeopleCount, groups: readonly AskedGroup[]): number {
  for (const group of groups) {
    const { fate, people, seconds } = group;
    add(count, group, 'asked');
    if (fate === 'entered') add(count, group, 'entered');
    if (fate === 'entered' || group.mailed === 1) count.mailed += people;
    increase(count.fates, fate, people);
    if (seconds !== null) increase(count.secondsToEnter, Math.max(0, seconds), people);
  }
  return finishSlice(count, groups);
}

export function addLeads(count: PeopleCount, groups: readonly Group[]): number {
  for (const group of groups) add(count, group, 'leads');
  return finishSlice(count, groups);
}

export function addViews({ days, sources }: PeopleCount, { byDay, bySource }: PageViews): void {
  for (const [day, views] of byDay) sumsAt(days, day).seen += views;
  for (const [source, views] of bySource) sumsAt(sources, source).seen += views;
  keepLargest(sources, SOURCES_COUNTED, OTHERS);
}

function add({ total, days, sources, domains }: PeopleCount, group: Group, what: keyof Counts): void {
  const { people, day, domain, attribution } = group;
  total[what] += people;
  sumsAt(days, day)[what] += people;
  sumsAt(domains, domain)[what] += people;
  sumsAt(sources, sourceName(attribution))[what] += people;
}

function finishSlice({ sources, domains }: PeopleCount, groups: readonly Group[]): number {
  keepLargest(sources, SOURCES_COUNTED, OTHERS);
  keepLargest(domains, DOMAINS_COUNTED, UNKNOWN_DOMAIN);
  return groups.reduce((sum, { people }) => sum + people, 0);
}

function increase<Key>(counts: Map<Key, number>, key: Key, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

const sourceName = (attribution: string | null): string =>
  attribution === null ? ERASED : shownSource(sourceOf(readAttribution(attribution)));

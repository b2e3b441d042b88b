import { ERASED, OTHERS, readAttribution, shownSource, sourceOf } from '#server/attribution/attribution.ts';
import type { AskedGroup, CodeStatus, Group } from '#server/db/queries/report-figures.ts';
import type { FunnelSums } from '#server/db/tables/counts.ts';

/** Strangers can type any source; beyond this number, the smallest sources are counted as OTHERS. */
export const SOURCES_COUNTED = 5_000;
const DOMAINS_COUNTED = 20_000;
/** Stands for the domain of erased e-mail addresses and for the smallest domains. */
const UNKNOWN_DOMAIN = '';

export type PeopleCount = {
  readonly total: Sums;
  mailed: number;
  readonly days: Map<number, Sums>;
  readonly sources: Map<string, Sums>;
  readonly domains: Map<string, Sums>;
  readonly statuses: Map<CodeStatus, number>;
  readonly secondsToEnter: Map<number, number>;
};

export const emptyCount = (): PeopleCount => ({
  total: noSums(),
  mailed: 0,
  days: new Map(),
  sources: new Map(),
  domains: new Map(),
  statuses: new Map(),
  secondsToEnter: new Map(),
});

export function addAsked(count: PeopleCount, groups: readonly AskedGroup[]): number {
  for (const group of groups) {
    const { status, people, seconds } = group;
    add(count, group, 'asked');
    if (status === 'entered') add(count, group, 'entered');
    if (status === 'entered' || group.mailed === 1) count.mailed += people;
    increase(count.statuses, status, people);
    if (seconds !== null) increase(count.secondsToEnter, Math.max(0, seconds), people);
  }
  return finishSlice(count, groups);
}

export function addLeads(count: PeopleCount, groups: readonly Group[]): number {
  for (const group of groups) add(count, group, 'leads');
  return finishSlice(count, groups);
}

/** Counts views from sources that are not among `views.sources` as OTHERS. */
export function addViews({ days, sources }: PeopleCount, views: FunnelSums): void {
  const others = sumsAt(sources, OTHERS);
  for (const { day, step, count } of views.days) {
    if (step !== 'seen') continue;
    sumsAt(days, day).seen += count;
    others.seen += count;
  }
  for (const { source, count } of views.sources) {
    others.seen -= count;
    sumsAt(sources, source).seen += count;
  }
  keepLargest(sources, SOURCES_COUNTED, OTHERS);
}

function add({ total, days, sources, domains }: PeopleCount, group: Group, step: keyof Counts): void {
  const { people, day, domain, attribution } = group;
  total[step] += people;
  sumsAt(days, day)[step] += people;
  sumsAt(domains, domain)[step] += people;
  sumsAt(sources, sourceName(attribution))[step] += people;
}

/** @returns the number of people in the groups */
function finishSlice({ sources, domains }: PeopleCount, groups: readonly Group[]): number {
  keepLargest(sources, SOURCES_COUNTED, OTHERS);
  keepLargest(domains, DOMAINS_COUNTED, UNKNOWN_DOMAIN);
  return groups.reduce((sum, { people }) => sum + people, 0);
}

function increase<Key>(counts: Map<Key, number>, key: Key, amount: number): void {
  counts.set(key, (counts.get(key) ?? 0) + amount);
}

const sourceName = (attribution: string | null): string =>
  attribution === null ? ERASED : shownSource(sourceOf(readAttribution(attribution)));

export type Sums = { seen: number; asked: number; entered: number; leads: number };
export type Counts = Readonly<Omit<Sums, 'seen'>>;
type NamedSums = Readonly<Sums> & { readonly name: string };

export const noSums = (): Sums => ({ seen: 0, asked: 0, entered: 0, leads: 0 });

export function sumsAt<Key>(sums: Map<Key, Sums>, key: Key): Sums {
  let found = sums.get(key);
  if (found === undefined) sums.set(key, (found = noSums()));
  return found;
}

export function addTo(sums: Sums, added: Readonly<Sums>): void {
  sums.seen += added.seen;
  sums.asked += added.asked;
  sums.entered += added.entered;
  sums.leads += added.leads;
}

/** Beyond the limit, moves the smaller half to `rest`. */
function keepLargest(sums: Map<string, Sums>, limit: number, rest: string): void {
  if (sums.size <= limit) return;
  for (const { name, ...counts } of rowsOf(sums, rest).slice(Math.floor(limit / 2))) {
    if (name === rest) continue;
    addTo(sumsAt(sums, rest), counts);
    sums.delete(name);
  }
}

/** Largest first, `rest` last. */
export const rowsOf = (sums: ReadonlyMap<string, Sums>, rest: string): NamedSums[] =>
  [...sums]
    .map(([name, counts]) => ({ name, ...counts }))
    .toSorted((a, b) => Number(a.name === rest) - Number(b.name === rest) || bySize(a, b));

export const peopleIn = ({ asked, leads }: Counts): number => asked + leads;

/** Views only break ties, because strangers can add any number of them. */
export const bySize = (a: NamedSums, b: NamedSums): number =>
  peopleIn(b) - peopleIn(a) || b.seen - a.seen || (a.name < b.name ? -1 : 1);

import type { Lost } from '#desk/endpoints/people.ts';
import { spanNamed, type DaySpan } from '#desk/web/named-days.ts';
import { areNamedDays, dayAsText, dayOf, readDay, type NamedDays } from '#shared/days.ts';

export type LostDays =
  | { readonly type: 'last'; readonly days: number }
  | { readonly type: 'named'; readonly name: NamedDays }
  | { readonly type: 'between'; readonly from: string; readonly to: string };

/** Data goes back RETENTION_DAYS, which is 30 by default. */
export const OFFERED_DAYS = [7, 30, 90] as const;
const DEFAULT_DAYS = 7;
const DAYS_LIMIT = 3_660;

export const isDay = (text: string | null): text is string => text !== null && readDay(text) !== null;

export function readLostDays(query: URLSearchParams): LostDays {
  const from = query.get('from');
  const to = query.get('to');
  if (isDay(from) && isDay(to))
    return from <= to ? { type: 'between', from, to } : { type: 'between', from: to, to: from };
  const name = query.get('days') ?? '';
  if (areNamedDays(name)) return { type: 'named', name };
  const days = Number(name);
  return {
    type: 'last',
    days: Number.isInteger(days) && days >= 1 && days <= DAYS_LIMIT ? days : DEFAULT_DAYS,
  };
}

export function lostDaysQuery(days: LostDays): Readonly<Record<string, string>> {
  if (days.type === 'between') return { from: days.from, to: days.to };
  if (days.type === 'named') return { days: days.name };
  return days.days === DEFAULT_DAYS ? {} : { days: String(days.days) };
}

/** First and last day, both included; the last days include today. */
export function spanOfDays(days: LostDays, now: number, timeZone: string): DaySpan {
  if (days.type === 'between') return { from: days.from, to: days.to };
  if (days.type === 'named') return spanNamed(days.name, now, timeZone);
  const today = dayOf(now, timeZone);
  return { from: dayAsText(today - days.days + 1), to: dayAsText(today) };
}

export const LOST_FACETS = ['why', 'platform', 'source'] as const;
export type LostFacet = (typeof LOST_FACETS)[number];
export type LostChoice = { readonly [Facet in LostFacet]?: string };

export type LostGroup = { readonly value: string; readonly people: number };

export const readLostChoice = (query: URLSearchParams): LostChoice =>
  Object.fromEntries(
    LOST_FACETS.flatMap((facet) => {
      const value = query.get(facet);
      return value === null || value === '' ? [] : [[facet, value]];
    }),
  );

const fits = (lost: Lost, choice: LostChoice, except?: LostFacet): boolean =>
  LOST_FACETS.every(
    (facet) => facet === except || choice[facet] === undefined || lost[facet] === choice[facet],
  );

export const chosenLost = (lost: readonly Lost[], choice: LostChoice): readonly Lost[] =>
  lost.filter((one) => fits(one, choice));

/**
 * Counts each value among the people who match all other filters. A selected value is always listed, so it can be
 * deselected.
 */
export function lostGroups(
  lost: readonly Lost[],
  choice: LostChoice,
  facet: LostFacet,
): readonly LostGroup[] {
  const people = new Map<string, number>();
  const chosen = choice[facet];
  if (chosen !== undefined) people.set(chosen, 0);
  for (const one of lost)
    if (fits(one, choice, facet)) people.set(one[facet], (people.get(one[facet]) ?? 0) + 1);
  return Array.from(people, ([value, count]) => ({ value, people: count })).toSorted(
    (a, b) => b.people - a.people || a.value.localeCompare(b.value),
  );
}

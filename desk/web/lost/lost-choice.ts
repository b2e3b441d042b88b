import type { Lost } from '#desk/endpoints/people.ts';
import { urlOf, valuesIn } from '#desk/web/api-client.ts';
import { spanNamed, type DaySpan } from '#desk/web/named-days.ts';
import { areNamedDays, dayAsText, dayOf, NAMED_DAYS } from '#shared/days.ts';

/** Names, or numbers of days. Data goes back RETENTION_DAYS, which is 30 by default. */
export const LOST_DAYS = [...NAMED_DAYS, '7', '30', '90'] as const;
export type LostDays = (typeof LOST_DAYS)[number];
const DEFAULT_DAYS: LostDays = '7';

export const readLostDays = (query: URLSearchParams): LostDays =>
  LOST_DAYS.find((days) => days === query.get('days')) ?? DEFAULT_DAYS;

export const lostUrl = (days: LostDays, choice: LostChoice): string =>
  urlOf('/lost', { days: days === DEFAULT_DAYS ? null : days, ...choice });

/** First and last day, both included; the last days include today. */
export function spanOfDays(days: LostDays, now: number, timeZone: string): DaySpan {
  if (areNamedDays(days)) return spanNamed(days, now, timeZone);
  const today = dayOf(now, timeZone);
  return { from: dayAsText(today - Number(days) + 1), to: dayAsText(today) };
}

export const LOST_FACETS = ['why', 'platform', 'source'] as const;
export type LostFacet = (typeof LOST_FACETS)[number];
export type LostChoice = { readonly [Facet in LostFacet]?: string };

type LostFacets = Pick<Lost, LostFacet>;

export const readLostChoice = (query: URLSearchParams): LostChoice => valuesIn(query, LOST_FACETS);

const matches = (lost: LostFacets, choice: LostChoice, except?: LostFacet): boolean =>
  LOST_FACETS.every(
    (facet) => facet === except || choice[facet] === undefined || lost[facet] === choice[facet],
  );

export const filterLost = <One extends LostFacets>(
  lost: readonly One[],
  choice: LostChoice,
): readonly One[] => lost.filter((one) => matches(one, choice));

/**
 * Counts each value among the people who match all other filters. A selected value is always listed, so it can be
 * deselected.
 */
export function countFacet(lost: readonly LostFacets[], choice: LostChoice, facet: LostFacet) {
  const people = new Map<string, number>();
  const chosen = choice[facet];
  if (chosen !== undefined) people.set(chosen, 0);
  for (const one of lost)
    if (matches(one, choice, facet)) people.set(one[facet], (people.get(one[facet]) ?? 0) + 1);
  return Array.from(people, ([value, count]) => ({ value, count })).toSorted(
    (a, b) => b.count - a.count || a.value.localeCompare(b.value),
  );
}

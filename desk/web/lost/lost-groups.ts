import type { Lost } from '#desk/endpoints/people.ts';

export const LOST_FACETS = ['why', 'platform', 'source'] as const;
export type LostFacet = (typeof LOST_FACETS)[number];
export type LostChoice = { readonly [Facet in LostFacet]?: string };

export type LostGroup = { readonly value: string; readonly people: number };

const VALUES: Readonly<Record<LostFacet, (lost: Lost) => string>> = {
  why: ({ why }) => why,
  platform: ({ platform }) => platform,
  source: ({ source }) => source,
};

export const readLostChoice = (query: URLSearchParams): LostChoice =>
  Object.fromEntries(
    LOST_FACETS.flatMap((facet) => {
      const value = query.get(facet);
      return value === null || value === '' ? [] : [[facet, value]];
    }),
  );

const fits = (lost: Lost, choice: LostChoice, except?: LostFacet): boolean =>
  LOST_FACETS.every(
    (facet) => facet === except || choice[facet] === undefined || VALUES[facet](lost) === choice[facet],
  );

export const chosenLost = (lost: readonly Lost[], choice: LostChoice): readonly Lost[] =>
  lost.filter((one) => fits(one, choice));

/** Counts each value among people who match all other filters. A selected value is always listed, so it can be deselected. */
export function lostGroups(
  lost: readonly Lost[],
  choice: LostChoice,
  facet: LostFacet,
): readonly LostGroup[] {
  const people = new Map<string, number>();
  for (const one of lost) people.set(VALUES[facet](one), people.get(VALUES[facet](one)) ?? 0);
  const chosen = choice[facet];
  if (chosen !== undefined && !people.has(chosen)) people.set(chosen, 0);
  for (const one of lost)
    if (fits(one, choice, facet)) people.set(VALUES[facet](one), (people.get(VALUES[facet](one)) ?? 0) + 1);
  return [...people]
    .map(([value, count]) => ({ value, people: count }))
    .filter(({ value, people: count }) => count > 0 || value === chosen)
    .toSorted((a, b) => b.people - a.people || a.value.localeCompare(b.value));
}

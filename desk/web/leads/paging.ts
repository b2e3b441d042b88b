// How far a list has come: pages by keyset, of which the server sends short or empty ones while it is still looking.
import type { PeoplePage, Person } from '#desk/endpoints/people.ts';

/** How many people each step adds to the list. */
export const STEP = 50;
/** The list grows by itself up to here, and by a button from here on: a browser with many thousand rows becomes slow. */
export const GROWS_TO = 500;

export type Listed = {
  readonly people: readonly Person[];
  /** Whether there may be more. */
  readonly hasMore: boolean;
  /** Everything newer was looked at; null at the end, or when nothing was asked yet. */
  readonly lookedBackTo: string | null;
};

/** What the pages hold together. A person who came into the state meanwhile may be on two pages: the first one counts. */
export function listedIn(pages: readonly PeoplePage[]): Listed {
  const people = new Map<string, Person>();
  for (const page of pages)
    for (const person of page.people) if (!people.has(person.id)) people.set(person.id, person);
  const last = pages.at(-1);
  return {
    people: [...people.values()],
    hasMore: last !== undefined && last.next !== null,
    lookedBackTo: last?.lookedBackTo ?? null,
  };
}

/** Whether the next page is to be asked for now. @param wanted how many people are to be shown */
export const goesOn = ({ people, hasMore }: Listed, wanted: number): boolean =>
  hasMore && people.length < wanted;

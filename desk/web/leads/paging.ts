import type { PeoplePage, Person } from '#desk/endpoints/people.ts';

export const PAGE_STEP = 50;
/** Longer lists grow by a button, because thousands of rows slow the browser down. */
export const AUTO_LOAD_LIMIT = 500;

export type Listed = {
  readonly people: readonly Person[];
  readonly hasMore: boolean;
  /** Everyone newer than this time has been checked; null at the end or before the first page. */
  readonly searchedBackTo: string | null;
};

/** A person whose state changes may appear on two pages; the first counts. */
export function mergePages(pages: readonly PeoplePage[]): Listed {
  const people = new Map<string, Person>();
  for (const page of pages)
    for (const person of page.people) if (!people.has(person.id)) people.set(person.id, person);
  const last = pages.at(-1);
  return {
    people: [...people.values()],
    hasMore: last !== undefined && last.next !== null,
    searchedBackTo: last?.searchedBackTo ?? null,
  };
}

export const needsNextPage = ({ people, hasMore }: Listed, wanted: number): boolean =>
  hasMore && people.length < wanted;

export type Neighbours = {
  readonly previous: Person | undefined;
  readonly next: Person | undefined;
};

/** @returns null if the person is not in the list */
export function neighboursOf(people: readonly Person[], id: string): Neighbours | null {
  const at = people.findIndex((person) => person.id === id);
  return at === -1 ? null : { previous: people[at - 1], next: people[at + 1] };
}

import type { Person } from '#desk/endpoints/people.ts';

export type Neighbours = {
  readonly previous: Person | undefined;
  readonly next: Person | undefined;
};

/** @returns null if the person is not in the list */
export function neighboursOf(people: readonly Person[], id: string): Neighbours | null {
  const at = people.findIndex((person) => person.id === id);
  return at === -1 ? null : { previous: people[at - 1], next: people[at + 1] };
}

// A queue that anybody can leave from the middle, and join again, for the price of a few assignments. A Set keeps an order too,
// but one that changes with every request is built anew again and again.

/** A place in a ring. A queue is the place between its last and its first, and nobody stands in it. */
export type Place<Item> = { readonly item: Item; before: Place<Item | null>; after: Place<Item | null> };
export type Queue<Item> = Place<Item | null>;

/** Makes a place that is in no queue. */
export function newPlace<Item>(item: Item): Place<Item> {
  const place = { item } as Place<Item>;
  place.before = place;
  place.after = place;
  return place;
}

/** Makes an empty queue. */
export const newQueue = <Item>(): Queue<Item> => newPlace<Item | null>(null);

/** Leaves the queue, if the place is in one. */
export function leaveQueue<Item>(place: Place<Item>): void {
  place.before.after = place.after;
  place.after.before = place.before;
  place.before = place;
  place.after = place;
}

/** Moves a place to the end of a queue, from wherever it is. */
export function queueUp<Item>(place: Place<Item>, queue: Queue<Item>): void {
  leaveQueue(place);
  place.before = queue.before;
  place.after = queue;
  queue.before.after = place;
  queue.before = place;
}

/** All that stand in a queue, the first one first. */
export function* inOrder<Item>(queue: Queue<Item>): Generator<Item> {
  for (let place = queue.after; place.item !== null; place = place.after) yield place.item;
}

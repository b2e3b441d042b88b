export type Counts = {
  /** People who asked for a code. */
  readonly asked: number;
  /** Those who also entered one. */
  readonly entered: number;
  /** E-mail addresses verified for the first time. */
  readonly leads: number;
};

export type Sums = { -readonly [Name in keyof Counts]: Counts[Name] } & {
  seen: number;
};
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
export function keepLargest(sums: Map<string, Sums>, limit: number, rest: string): void {
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

/** Views only break ties, because strangers can add any number. */
export const peopleIn = ({ asked, leads }: Counts): number => asked + leads;

export const bySize = (a: NamedSums, b: NamedSums): number =>
  peopleIn(b) - peopleIn(a) || b.seen - a.seen || (a.name < b.name ? -1 : 1);

export type Mistake = {
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** States the fact, then the action. May begin with the name of an entry. */
  readonly message: string;
};

/** Formats a mistake so that editors and terminals link it: `campaign/site.yaml:12: titel: unknown entry; …`. */
export const describeMistake = ({ file, line, column, message }: Mistake): string =>
  [[file, line, column].filter((part) => part !== undefined).join(':'), message]
    .filter((part) => part !== '')
    .join(': ');

export type Mistakes = { readonly type: 'mistakes'; readonly mistakes: readonly Mistake[] };

export const mistakesOf = (...mistakes: readonly Mistake[]): Mistakes => ({ type: 'mistakes', mistakes });

/**
 * Finds the name that is most similar to the written one.
 * @param maxEdits the limit is also less than half of the name's length
 */
export function nearestName(written: string, names: Iterable<string>, maxEdits = 2): string | null {
  const [name] = byNearness(written, names);
  if (name === undefined) return null;
  const edits = countEdits(written, name);
  return edits <= maxEdits && edits < written.length / 2 ? name : null;
}

export const byNearness = (written: string, names: Iterable<string>): readonly string[] =>
  Array.from(names, (name) => ({ name, edits: countEdits(written, name) }))
    .toSorted((one, other) => one.edits - other.edits || (one.name < other.name ? -1 : 1))
    .map(({ name }) => name);

/** Counts wrong, missing, extra or swapped letters (optimal string alignment). */
function countEdits(one: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const [above = 0, diagonal = 0] = [rows[row - 1]?.[column], rows[row - 1]?.[column - 1]];
      const same = one[row - 1] === other[column - 1];
      let least = Math.min(above + 1, (line[column - 1] ?? 0) + 1, diagonal + (same ? 0 : 1));
      if (row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]) {
        least = Math.min(least, (rows[row - 2]?.[column - 2] ?? 0) + 1);
      }
      line.push(least);
    }
    rows.push(line);
  }
  return rows[one.length]?.[other.length] ?? 0;
}

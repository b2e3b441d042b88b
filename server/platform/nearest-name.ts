// Finds the name that a misspelt one was meant to be.

/** Names in the order of their distance from a written one, the nearest first. */
export const byNearness = (written: string, names: Iterable<string>): readonly string[] =>
  Array.from(names, (name) => ({ name, slips: countSlips(written, name) }))
    .toSorted((one, other) => one.slips - other.slips || (one.name < other.name ? -1 : 1))
    .map(({ name }) => name);

/**
 * The name that is nearest to the written one.
 * @param names at least one
 * @returns the name, and its distance in slips
 */
export function nearestName(written: string, names: readonly string[]): { name: string; slips: number } {
  return names
    .map((name) => ({ name, slips: countSlips(written, name) }))
    .reduce((best, candidate) => (candidate.slips < best.slips ? candidate : best));
}

/** Number of letters that are wrong, missing, superfluous or swapped with their neighbour (optimal string alignment). */
function countSlips(one: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const [above = 0, aslant = 0] = [rows[row - 1]?.[column], rows[row - 1]?.[column - 1]];
      const same = one[row - 1] === other[column - 1];
      let least = Math.min(above + 1, (line[column - 1] ?? 0) + 1, aslant + (same ? 0 : 1));
      if (row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]) {
        least = Math.min(least, (rows[row - 2]?.[column - 2] ?? 0) + 1);
      }
      line.push(least);
    }
    rows.push(line);
  }
  return rows[one.length]?.[other.length] ?? 0;
}

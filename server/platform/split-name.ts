// The name somebody typed, in the two parts that other programs want.

/** People write one name; programs want two. The last word is the last name, and the only word too. */
export function splitName(name: string): { first: string; last: string } {
  const words = name.trim().split(/\s+/);
  return { first: words.slice(0, -1).join(' '), last: words.at(-1) ?? '' };
}

// Splits a typed name into the two parts that other programs want.

/** The last word is the last name; so is an only word. */
export function splitName(name: string): { first: string; last: string } {
  const words = name.trim().split(/\s+/);
  return { first: words.slice(0, -1).join(' '), last: words.at(-1) ?? '' };
}

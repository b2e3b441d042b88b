/** The last word is the last name, even if it is the only one. */
export function splitName(name: string): { first: string; last: string } {
  const words = name.trim().split(/\s+/);
  return { first: words.slice(0, -1).join(' '), last: words.at(-1) ?? '' };
}

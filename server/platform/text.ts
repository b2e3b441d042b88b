const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** For text inside an HTML element or a quoted attribute. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? character);

export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1);

/** The last word is the last name, even if it is the only one. */
export function splitName(name: string): { first: string; last: string } {
  const words = name.trim().split(/\s+/);
  return { first: words.slice(0, -1).join(' '), last: words.at(-1) ?? '' };
}

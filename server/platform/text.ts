const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text for an HTML element or a quoted attribute. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? character);

/** Quotes a file name for a command that the operator may copy, if a shell would change it. */
export const shellWord = (name: string): string =>
  /^[\w@%+=:,./-]+$/.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`;

export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1);

/** Uses the last word as the last name, even if it is the only word. */
export function splitName(name: string): { first: string; last: string } {
  const words = name.trim().split(/\s+/);
  return { first: words.slice(0, -1).join(' '), last: words.at(-1) ?? '' };
}

export const NOT_UTF_8 = 'is not encoded in UTF-8. Save the file as UTF-8 in your editor.';

/** Finds bytes that were not UTF-8, and the zero bytes of UTF-16. Counts lines from 1. */
export function lineOfForeignCharacter(decoded: string): number | null {
  const at = decoded.search(/[\uFFFD\0]/);
  return at < 0 ? null : decoded.slice(0, at).split('\n').length;
}

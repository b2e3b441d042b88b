// PostgreSQL plans a statement that has a name once for each connection, and a visitor's way is made of the same few
// statements. pg gives none a name by itself.

/** Several times what the server has; statements beyond are planned anew each time. */
const MOST_NAMES = 200;

/**
 * Makes what gives each statement its name, the same on every connection. Not those that ask for "*": a release that comes beside this
 * one may add a column, and PostgreSQL refuses a plan whose rows would change.
 * @returns for the text of a statement; undefined for one that is planned anew
 */
export function createStatementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>();
  return (text) => {
    const known = names.get(text);
    if (known !== undefined || names.size >= MOST_NAMES || text.includes('*')) return known;
    const name = `s${names.size + 1}`;
    names.set(text, name);
    return name;
  };
}

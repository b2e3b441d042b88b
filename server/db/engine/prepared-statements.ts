// Names for statements: PostgreSQL plans a named one once for each connection, and every visitor needs the same few. This takes PostgreSQL
// from 172 to 214 flows a second (docs/decisions/0018-asked-once.md). pg names none by itself.

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

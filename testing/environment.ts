// The environment of a process, for what reads it: tests call that in their own process.

/** For a process that a test starts with an environment of its own: what this one has compiled is not compiled again. */
export const KEPT_COMPILED = { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] };

/**
 * Gives this process other variables, and no others, until it is disposed of. Whatever else runs meanwhile sees them as well.
 * @example
 * using _ = environment({ PORT: 'http' });
 */
export function environment(variables: Readonly<Record<string, string | undefined>>): Disposable {
  const before = { ...process.env };
  const replaceBy = (after: typeof variables) => {
    for (const name of Object.keys(process.env)) delete process.env[name];
    for (const [name, value] of Object.entries(after)) if (value !== undefined) process.env[name] = value;
  };
  replaceBy(variables);
  return { [Symbol.dispose]: () => replaceBy(before) };
}

// The environment of a process: what every process of a test has in it, and another one for a while.
import path from 'node:path';

/**
 * From here on every process that inherits the environment keeps what Node compiles of it: else each file of tests would translate and
 * compile the same modules again, for half a second.
 */
export function keepCompiled(): void {
  process.env['NODE_COMPILE_CACHE'] ??= path.resolve(
    import.meta.dirname,
    '..',
    'node_modules',
    '.cache',
    'tests',
  );
}

/** For a process that a test starts with another environment: what this one has compiled is not compiled again. */
export const KEPT_COMPILED = { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] };

/**
 * For functions that read the environment: gives this process other variables, and no others, until it is disposed of. Everything
 * that runs meanwhile sees them as well.
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

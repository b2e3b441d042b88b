import path from 'node:path';

/** Child processes share Node's compile cache; otherwise each test file compiles the same modules for half a second. */
export function keepCompiled(): void {
  process.env['NODE_COMPILE_CACHE'] ??= path.resolve(
    import.meta.dirname,
    '..',
    'node_modules',
    '.cache',
    'tests',
  );
}

export const KEPT_COMPILED = { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] };

/** Inside the copy of the project, because its compiled code would stay in our node_modules/ forever. */
export const keptCompiledIn = (project: string) => ({ NODE_COMPILE_CACHE: path.join(project, 'compiled') });

/**
 * Replaces the environment of the whole process until disposed.
 * @example using _environment = environment({ PORT: 'http' });
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

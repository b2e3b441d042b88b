// The environment of this process, as one that is started would have it.

/** Sets variables for as long as something runs, and takes back whatever it has set itself. */
export async function inEnvironment<Result>(
  env: Readonly<Record<string, string>>,
  act: () => Result | Promise<Result>,
): Promise<Result> {
  const before = { ...process.env };
  Object.assign(process.env, env);
  try {
    return await act();
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

// Which database is used, and the parts of a URL of PostgreSQL.

export type DatabaseAddress =
  | {
      readonly engine: 'sqlite';
      /** Absolute path, or ':memory:'. */
      readonly file: string;
    }
  | { readonly engine: 'postgres'; readonly url: string };

/** The same URL with changed parameters. */
export function withParameters(url: string, change: (parameters: URLSearchParams) => void): string {
  const [address = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  change(parameters);
  // libpq does not read "+" as a space.
  return parameters.size === 0 ? address : `${address}?${String(parameters).replaceAll('+', '%20')}`;
}

/** The host with its port, as a person reads it; "localhost" if the URL names none. */
export function sayHost(url: string): string {
  const { host, searchParams } = new URL(url);
  return host || searchParams.get('host') || 'localhost';
}

export type DatabaseAddress =
  | {
      readonly engine: 'sqlite';
      /** An absolute path, or ':memory:'. */
      readonly file: string;
    }
  | { readonly engine: 'postgres'; readonly url: string };

export function withParameters(url: string, change: (parameters: URLSearchParams) => void): string {
  const [address = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  change(parameters);
  // libpq does not read "+" as a space.
  return parameters.size === 0 ? address : `${address}?${String(parameters).replaceAll('+', '%20')}`;
}

export function describeHost(url: string): string {
  const { host, searchParams } = new URL(url);
  return host || searchParams.get('host') || 'localhost';
}

export type DatabaseAddress =
  | {
      readonly engine: 'sqlite';
      /** An absolute path, or ':memory:'. */
      readonly file: string;
    }
  | { readonly engine: 'postgres'; readonly url: string };

export function describeHost(url: string): string {
  const { host, searchParams } = new URL(url);
  return host || searchParams.get('host') || 'localhost';
}

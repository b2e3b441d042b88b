// Reads a DATABASE_URL of PostgreSQL.

/** Whether it names several hosts, as libpq reads them: postgres://a,b/name or postgres:///name?host=a,b. */
export const namesSeveralHosts = (url: string): boolean =>
  /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?[^/?#@]*,/.test(url) ||
  (parametersOf(url).get('host') ?? '').includes(',');

/** The same URL with changed parameters. */
export function withParameters(url: string, change: (parameters: URLSearchParams) => void): string {
  const [address = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  change(parameters);
  // libpq does not read "+" as a space.
  return parameters.size === 0 ? address : `${address}?${String(parameters).replaceAll('+', '%20')}`;
}

/** The parameters of a URL; none of text that is no URL. */
export const parametersOf = (url: string): URLSearchParams =>
  URL.parse(url)?.searchParams ?? new URLSearchParams();

/** The value of target_session_attrs if it asks for a host that need not take writes, which this page cannot use; else null. */
export function asksForReading(url: string): string | null {
  const asked = parametersOf(url).get('target_session_attrs');
  return asked === null || ['any', 'read-write', 'primary'].includes(asked) ? null : asked;
}

/** The host with its port, as a person reads it; "localhost" when none is named. */
export function sayHost(url: string): string {
  const { host, searchParams } = new URL(url);
  return host || searchParams.get('host') || 'localhost';
}

// Reads a DATABASE_URL that names several hosts, of which one takes writes, in the two forms of libpq:
// postgres://user@a:5432,b:5432/name and postgres:///name?host=a,b&port=5432,5432.

/** The parameters that ask for a host that takes writes, as libpq calls them. */
const WRITABLE: ReadonlySet<string | null> = new Set(['read-write', 'primary']);

/** One URL for each host, in the order of their names; the URL itself when it names one. */
export function hostUrls(url: string): readonly string[] {
  const [, scheme = '', login = '', hosts = '', rest = ''] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#@]*)(.*)$/s.exec(url) ?? [];
  if (hosts.includes(',')) return hosts.split(',').map((host) => scheme + login + host + rest);
  const named = URL.parse(url)?.searchParams.get('host')?.split(',') ?? [];
  if (named.length < 2) return [url];
  const ports = URL.parse(url)?.searchParams.get('port')?.split(',') ?? [];
  return named.map((host, index) => {
    const one = new URL(url);
    one.searchParams.set('host', host);
    // A single port is for all hosts.
    const port = ports[index] ?? ports[0];
    if (port !== undefined) one.searchParams.set('port', port);
    return one.href;
  });
}

/** The same URL with changed parameters, with one host or several. */
export function withParameters(url: string, change: (parameters: URLSearchParams) => void): string {
  const [address = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  change(parameters);
  // libpq does not read "+" as a space.
  return parameters.size === 0 ? address : `${address}?${String(parameters).replaceAll('+', '%20')}`;
}

/** The parameters of a URL; all its hosts share them. */
export const parametersOf = (url: string): URLSearchParams =>
  URL.parse(hostUrls(url)[0] ?? '')?.searchParams ?? new URLSearchParams();

/** Whether a connection must lead to a host that takes writes: always, if there are several. */
export const mustTakeWrites = (url: string): boolean =>
  hostUrls(url).length > 1 || WRITABLE.has(sessionAttributes(url));

/** The value of target_session_attrs if it asks for a host that need not take writes, which this page cannot use; else null. */
export const asksForReading = (url: string): string | null => {
  const asked = sessionAttributes(url);
  return asked === null || asked === 'any' || WRITABLE.has(asked) ? null : asked;
};

const sessionAttributes = (url: string): string | null => parametersOf(url).get('target_session_attrs');

/** The hosts with their ports, as a person reads them; "localhost" when none is named. */
export const sayHosts = (url: string): string =>
  hostUrls(url)
    .map((one) => {
      const { host, searchParams } = new URL(one);
      return host || searchParams.get('host') || 'localhost';
    })
    .join(', ');

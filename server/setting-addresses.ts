// What can be told from an address in a setting (SMTP_URL, DATABASE_URL) without asking anybody: whether it stays on this
// machine, and whether its password cuts it in two.
import ipaddr from 'ipaddr.js';

/**
 * Whether what is sent to a host stays on this machine.
 * @param host a name or an address as it stands in a URL; empty: the usual one, which is this machine
 */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (bare === '' || bare === 'localhost' || bare.endsWith('.localhost')) return true;
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() === 'loopback';
}

/** How the characters that end a login must be written inside it (RFC 3986, section 2.1). */
const WRITTEN_AS = { '#': '%23', '/': '%2F', '?': '%3F', '@': '%40' } as const;

/**
 * Finds a password that ends the address early, because a character in it means something there.
 * @returns how to write it, as the rest of a sentence that begins with the setting's name, or null when there is none
 */
export function loginSlip(url: string): string | null {
  const [, rest] = /^[a-z][a-z0-9+.-]*:\/\/(.*)$/i.exec(url) ?? [];
  const end = rest?.lastIndexOf('@') ?? -1;
  if (rest === undefined || end < 0) return null;
  const login = rest.slice(0, end);
  const ending = /[#/?]/.exec(login);
  // An "@" in a parameter's value, as in "?user=me@example.com", ends nothing.
  if (ending === null || /^([^#/?]*@)?[^@#/?]*(\/[^@#?]*)?\?[^@#?]*=/.test(rest)) return null;
  const found = ending[0] as keyof typeof WRITTEN_AS;
  return `has a "${found}" in its user or password, where it must be written ${WRITTEN_AS[found]} (and "@" as %40, "/" as %2F, "?" as %3F, "#" as %23)`;
}

/** Whether a login holds an "@" as it is. It is read as people mean it, but only because no host can have one. */
export function hasBareAt(url: string): boolean {
  const parsed = URL.parse(url);
  return (
    parsed !== null && /%40/.test(parsed.username + parsed.password) && /^[^/]*\/\/[^/?#]*@[^/?#]*@/.test(url)
  );
}
